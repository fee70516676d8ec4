;;; hive-journal.el --- The files of the Hive outbox  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; One append-only file of JSON lines per Emacs process, readable by its
;; owner only.  A record is on the disk when `hive-journal-append' returns.
;;
;; A file is named HOST.PID.START.jsonl after the process that owns it.  A
;; new Emacs adopts what a dead one left by renaming the file to a name of
;; its own: renaming is atomic, so of two that try only one succeeds, and a
;; file always names the process that answers for it.

;;; Code:

(require 'cl-lib)
(require 'json)
(require 'subr-x)

(defcustom hive-outbox-directory (locate-user-emacs-file "hive/outbox/")
  "Where answers are kept until the sidecar has stored them.
Only you can read it."
  :type 'directory
  :group 'hive)

;;;; JSON lines

(defun hive-journal--encode (record)
  "Return RECORD, a plist, as one line of JSON in UTF-8 bytes."
  (let ((text (if (fboundp 'json-serialize)
                  (json-serialize record :null-object nil :false-object :json-false)
                (let ((json-null nil) (json-false :json-false))
                  (json-encode record)))))
    (if (multibyte-string-p text) (encode-coding-string text 'utf-8-unix) text)))

(defun hive-journal--decode (line)
  "Return the record in LINE, or nil when it is torn."
  (ignore-errors
    (if (fboundp 'json-parse-string)
        (json-parse-string line :object-type 'plist
                           :null-object nil :false-object :json-false)
      (let ((json-object-type 'plist) (json-false :json-false))
        (json-read-from-string line)))))

;;;; Names

(defun hive-journal--host ()
  "Return the name of this machine, as file names hold it."
  (replace-regexp-in-string "[^[:alnum:]_-]" "_" (system-name)))

(defun hive-journal--started (pid)
  "Return when process PID started, in seconds, or nil when it is dead.
A zombie is dead.  0 when the system does not tell."
  (let ((attributes (process-attributes pid)))
    (cond ((equal (alist-get 'state attributes) "Z") nil)
          ((alist-get 'start attributes)
           (round (float-time (alist-get 'start attributes))))
          (attributes 0)
          ;; Where there are no attributes, a signal may tell.
          ((eq 0 (ignore-errors (signal-process pid 0))) 0))))

(defvar hive-journal--owner nil
  "How the names of our files begin: HOST.PID.START, or nil at first.")

(defun hive-journal--owner ()
  "Return how the names of our files begin."
  (or hive-journal--owner
      (setq hive-journal--owner
            (format "%s.%d.%d" (hive-journal--host) (emacs-pid)
                    (or (hive-journal--started (emacs-pid)) 0)))))

(defun hive-journal-file ()
  "Return the name of the file of this Emacs, which need not exist."
  (expand-file-name (concat (hive-journal--owner) ".jsonl") hive-outbox-directory))

(defconst hive-journal--name
  (rx bos (group (+ (not "."))) "." (group (+ digit)) "." (group (+ digit))
      (? "-" (+ (not "."))) ".jsonl" eos)
  "The name of an outbox file: host, process, start of the process.")

(defconst hive-journal--clock-slack 5
  "Seconds by which two readings of one process's start may differ.")

(defun hive-journal--dead-p (file)
  "Return non-nil if FILE belongs to an Emacs that is no more."
  (let ((name (file-name-nondirectory file)))
    (and (string-match hive-journal--name name)
         (let* ((host (match-string 1 name))
                (pid (string-to-number (match-string 2 name)))
                (start (string-to-number (match-string 3 name)))
                (ours (string-prefix-p (hive-journal--owner) name)))
           (cond
            (ours nil)
            ;; A process of another machine cannot be asked.  Sending an
            ;; answer twice is one answer, so a guess does no harm.
            ((not (equal host (hive-journal--host)))
             (> (- (float-time)
                   (float-time (file-attribute-modification-time
                                (file-attributes file))))
                3600))
            ((= pid (emacs-pid)) t)
            (t (let ((now (hive-journal--started pid)))
                 (or (null now)
                     (and (> now 0) (> start 0)
                          (> (abs (- now start)) hive-journal--clock-slack))))))))))

;;;; Reading and writing

(defun hive-journal--write (bytes file append)
  "Write BYTES to FILE and wait until the disk has them.
With APPEND, at its end; otherwise instead of what it holds."
  (let ((write-region-inhibit-fsync nil) ; t in batch Emacs
        (coding-system-for-write 'no-conversion)
        (file-name-handler-alist nil))
    (with-file-modes #o600
      (write-region bytes nil file append 'quiet))))

(defun hive-journal--directory ()
  "Return the directory of the outbox; make it, for its owner only."
  (let ((directory (file-name-as-directory (expand-file-name hive-outbox-directory))))
    (unless (file-directory-p directory)
      (with-file-modes #o700 (make-directory directory t)))
    (unless (= #o700 (logand #o777 (file-modes directory)))
      (set-file-modes directory #o700))
    directory))

(defun hive-journal-append (file record)
  "Append RECORD, a plist, to FILE; it is on the disk on return.
Signal an error when it could not be written."
  (hive-journal--directory)
  (let ((line (hive-journal--encode record)))
    (unless (hive-journal--decode (decode-coding-string line 'utf-8-unix))
      (error "What was to be written could not be read back"))
    ;; The newline in front ends a line that a crash or a full disk tore.
    (hive-journal--write (concat "\n" line "\n") file t)))

(defun hive-journal-read (file)
  "Return the records of FILE, oldest first, without torn ones."
  (let ((text (with-temp-buffer
                (set-buffer-multibyte nil)
                (insert-file-contents-literally file)
                (decode-coding-string (buffer-string) 'utf-8-unix t))))
    (delq nil (mapcar #'hive-journal--decode
                      ;; What no newline ends was not finished.
                      (butlast (split-string text "\n"))))))

(defun hive-journal-rewrite (file records)
  "Let FILE hold RECORDS and nothing else, in one step.
Without RECORDS there is no file."
  (if (null records)
      (when (file-exists-p file) (delete-file file))
    (let ((new (concat file ".new")))
      (hive-journal--write
       (mapconcat (lambda (record) (concat (hive-journal--encode record) "\n"))
                  records "")
       new nil)
      (rename-file new file t))))

(defun hive-journal-own ()
  "Return the names of our files that are there, adopted ones too."
  (and (file-directory-p hive-outbox-directory)
       (cl-remove-if-not (lambda (file)
                           (string-prefix-p (hive-journal--owner)
                                            (file-name-nondirectory file)))
                         (directory-files hive-outbox-directory t hive-journal--name))))

(defun hive-journal-adopt ()
  "Make the files of dead Emacsen ours; return their new names."
  (let (adopted)
    (dolist (file (and (file-directory-p hive-outbox-directory)
                       (directory-files hive-outbox-directory t hive-journal--name)))
      (when (hive-journal--dead-p file)
        (let ((name (expand-file-name
                     (format "%s-%x%06x.jsonl" (hive-journal--owner)
                             (floor (* 1000 (float-time))) (random #x1000000))
                     hive-outbox-directory)))
          ;; Whoever loses this race finds the file gone.
          (when (ignore-errors (rename-file file name) t)
            (push name adopted)))))
    (nreverse adopted)))

(provide 'hive-journal)
;;; hive-journal.el ends here
