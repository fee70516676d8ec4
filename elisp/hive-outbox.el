;;; hive-outbox.el --- Answers that are not stored yet  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Each answer or message is written to disk before Emacs reports anything, and
;; is deleted only when the sidecar has stored it.  It survives a crash of
;; Emacs, of the sidecar, and of both.
;;
;;     pending ──▶ stored     the sidecar stored it, or already had an answer
;;             └─▶ rejected   it can never be stored; kept and shown
;;     unverified             not written with your key; sent only if you confirm it
;;
;; An entry may be delayed for a few seconds before it is sent, so that the human
;; can take it back.  It is on disk like any other: if Emacs ends, it is sent,
;; because it is what the human decided.  An entry that was taken back is recorded
;; as such before Emacs says so, and is never sent.
;;
;; A file in the outbox could be planted by anything that runs as you.  So each
;; line is authenticated with a key that only you can read, and only answers and
;; messages are sent.
;;
;; Sending is retried only where that may help: the sidecar is away or does
;; not reply, or the store is busy.  Entries about the same question, or in
;; the same conversation, are sent in order: they wait while an earlier one is
;; retried.  Other entries never wait for a failing one.

;;; Code:

(require 'cl-lib)
(require 'hive-human)
(require 'hive-messages)
(require 'hive-model)
(require 'hive-rpc)
(require 'hive-seat)
(require 'hive-text)
(require 'json)
(require 'rfc2104)
(require 'subr-x)

;;;; Options

(defcustom hive-outbox-key-file (locate-user-emacs-file "hive-outbox.key")
  "File of the key that proves that Emacs wrote a line of the outbox.
It is created when it is needed.  Only you can read it; keep it away
from directories that agents work in.  Without it, unsent answers
are kept and sent only after you confirm them."
  :type 'file
  :group 'hive)

(defcustom hive-outbox-directory (locate-user-emacs-file "hive/outbox/")
  "Directory of answers that the sidecar has not stored yet.
Only you can read it."
  :type 'directory
  :group 'hive)

;;;; Files

;; Each Emacs process has an append-only file of JSON lines, readable only by
;; its owner.  A record is on disk when `hive-outbox-append' returns.
;;
;; A file is named HOST.PID.START.jsonl after the process that owns it.  A
;; new Emacs adopts the file of a dead one by renaming it: renaming is atomic,
;; so only one of two Emacsen succeeds, and a file name always names the
;; process that is responsible for it.

(defun hive-outbox--encode (record)
  "Return RECORD, a plist, as one line of JSON in UTF-8 bytes."
  (let ((text (if (fboundp 'json-serialize)
                  (json-serialize record :null-object nil :false-object :json-false)
                (let ((json-null nil) (json-false :json-false))
                  (json-encode record)))))
    (if (multibyte-string-p text) (encode-coding-string text 'utf-8-unix) text)))

(defun hive-outbox--decode (line)
  "Return the record in LINE, or nil when it is torn."
  (ignore-errors
    (if (fboundp 'json-parse-string)
        (json-parse-string line :object-type 'plist
                           :null-object nil :false-object :json-false)
      (let ((json-object-type 'plist) (json-false :json-false))
        (json-read-from-string line)))))

;; The code of a line is over its bytes, so nothing depends on how JSON is read
;; and written again.

(defun hive-outbox--hmac (key bytes)
  "Return the HMAC-SHA256 of BYTES with KEY in hex."
  (rfc2104-hash (lambda (text) (secure-hash 'sha256 text)) 64 32 key bytes))

(defun hive-outbox--key ()
  "Return the key of the outbox; create it if there is none."
  (or (hive-seat-key-in hive-outbox-key-file)
      (error "The key of the outbox cannot be kept in %s" hive-outbox-key-file)))

(defun hive-outbox--sign (line)
  "Return LINE, the bytes of a JSON object, with its code as last field."
  (concat (substring line 0 -1)
          (format ",\"mac\":\"%s\"}" (hive-outbox--hmac (hive-outbox--key) line))))

(defun hive-outbox--read-line (key bytes)
  "Return the record in BYTES, a line, or nil if it is torn.
It has :verified t only if its code is that of KEY."
  (let ((record (hive-outbox--decode (decode-coding-string bytes 'utf-8-unix))))
    (when (consp record)
      (plist-put record :verified
                 (and key
                      (string-match ",\"mac\":\"\\([0-9a-f]\\{64\\}\\)\"}\\'" bytes)
                      (equal (match-string 1 bytes)
                             (hive-outbox--hmac
                              key (concat (substring bytes 0 (match-beginning 0)) "}"))))))))

(defun hive-outbox--host ()
  "Return the name of this machine, as used in file names."
  (replace-regexp-in-string "[^[:alnum:]_-]" "_" (system-name)))

(defun hive-outbox--started (pid)
  "Return when process PID started, in seconds, or nil if it is dead.
A zombie is dead.  Return 0 if the system does not say."
  (let ((attributes (process-attributes pid)))
    (cond ((equal (alist-get 'state attributes) "Z") nil)
          ((alist-get 'start attributes)
           (round (float-time (alist-get 'start attributes))))
          (attributes 0)
          ;; Without attributes, try a signal.
          ((eq 0 (ignore-errors (signal-process pid 0))) 0))))

(defvar hive-outbox--owner nil
  "The prefix of our file names, HOST.PID.START, or nil at first.")

(defun hive-outbox--owner ()
  "Return the prefix of our file names."
  (or hive-outbox--owner
      (setq hive-outbox--owner
            (format "%s.%d.%d" (hive-outbox--host) (emacs-pid)
                    (or (hive-outbox--started (emacs-pid)) 0)))))

(defun hive-outbox-file ()
  "Return the name of the file of this Emacs, which may not exist yet."
  (expand-file-name (concat (hive-outbox--owner) ".jsonl") hive-outbox-directory))

(defconst hive-outbox--name
  (rx bos (group (+ (not "."))) "." (group (+ digit)) "." (group (+ digit))
      (? "-" (+ (not "."))) ".jsonl" eos)
  "The name of an outbox file: host, process, start of the process.")

(defconst hive-outbox--clock-slack 5
  "Seconds by which two readings of one process's start may differ.")

(defun hive-outbox--dead-p (file)
  "Return non-nil if FILE belongs to an Emacs that is dead."
  (let ((name (file-name-nondirectory file)))
    (and (string-match hive-outbox--name name)
         (let* ((host (match-string 1 name))
                (pid (string-to-number (match-string 2 name)))
                (start (string-to-number (match-string 3 name)))
                (ours (string-prefix-p (hive-outbox--owner) name)))
           (cond
            (ours nil)
            ;; Processes of another machine cannot be checked.  An answer
            ;; that is sent twice is one answer, so a guess does no harm.
            ((not (equal host (hive-outbox--host)))
             (> (- (hive-now)
                   (float-time (file-attribute-modification-time
                                (file-attributes file))))
                3600))
            ((= pid (emacs-pid)) t)
            (t (let ((now (hive-outbox--started pid)))
                 (or (null now)
                     (and (> now 0) (> start 0)
                          (> (abs (- now start)) hive-outbox--clock-slack))))))))))

;;;; Reading and writing files

(defun hive-outbox--write (bytes file append)
  "Write BYTES to FILE, and return when they are on disk.
With APPEND, add them at its end; otherwise replace its content."
  (let ((write-region-inhibit-fsync nil) ; t in batch Emacs
        (coding-system-for-write 'no-conversion)
        (file-name-handler-alist nil))
    (with-file-modes #o600
      (write-region bytes nil file append 'quiet))))

(defvar hive-outbox--kept nil
  "Our file, once the sidecar has been asked to flush its name; or nil.
Emacs can flush a file, but not the folder with its name.  So the
file is made before it is needed, and stays as long as this Emacs.")

(defun hive-outbox--greeting ()
  "Make our file; return the folders that the sidecar should flush."
  (condition-case oops
      (let ((directory (hive-outbox--directory))
            (file (hive-outbox-file)))
        (unless (file-exists-p file) (hive-outbox--write "" file nil))
        (setq hive-outbox--kept file)
        (list :flush_folders
              (vector directory
                      (file-name-directory (expand-file-name hive-outbox-key-file)))))
    ;; An answer that cannot be kept is refused when it is given.
    (error (hive-announce "Hive cannot keep answers: %s" (error-message-string oops)) nil)))

(add-hook 'hive-rpc-greeting-functions #'hive-outbox--greeting)

(defun hive-outbox-tidy ()
  "Delete our file if nothing is in it."
  (when hive-outbox--kept
    (when (eq 0 (file-attribute-size (file-attributes hive-outbox--kept)))
      (ignore-errors (delete-file hive-outbox--kept)))
    (setq hive-outbox--kept nil)))

(defun hive-outbox--directory ()
  "Return the directory of the outbox; create it, for its owner only."
  (let ((directory (file-name-as-directory (expand-file-name hive-outbox-directory))))
    (unless (file-directory-p directory)
      (with-file-modes #o700 (make-directory directory t)))
    (unless (= #o700 (logand #o777 (file-modes directory)))
      (set-file-modes directory #o700))
    directory))

(defun hive-outbox-append (file record)
  "Append RECORD, a plist, to FILE; on return it is on disk.
Signal an error if it cannot be written."
  (hive-outbox--directory)
  (let ((line (hive-outbox--encode record)))
    (unless (hive-outbox--decode (decode-coding-string line 'utf-8-unix))
      (error "The answer could not be encoded"))
    ;; The newline in front ends a line that a crash or a full disk cut off.
    (hive-outbox--write (concat "\n" (hive-outbox--sign line) "\n") file t)))

(defun hive-outbox-read (file)
  "Return the complete records of FILE, oldest first.
Each has :verified t or nil: whether it was written with our key."
  (let ((bytes (with-temp-buffer
                 (set-buffer-multibyte nil)
                 ;; Reading a named pipe would wait for its writer.
                 (when (file-regular-p file) (insert-file-contents-literally file))
                 (buffer-string)))
        (key (hive-seat-stored-key hive-outbox-key-file)))
    (delq nil (mapcar (lambda (line) (hive-outbox--read-line key line))
                      ;; A line without a newline is incomplete.
                      (butlast (split-string bytes "\n"))))))

(defun hive-outbox-rewrite (file records)
  "Replace the content of FILE by RECORDS, atomically.
Without RECORDS, delete the file, or empty it if it is kept."
  (if (null records)
      (when (file-exists-p file)
        ;; The name of our own file is on disk: another file would need that again.
        (if (equal file hive-outbox--kept)
            (hive-outbox--write "" file nil)
          (delete-file file)))
    (let ((new (concat file ".new")))
      (hive-outbox--write
       (mapconcat (lambda (record)
                    (concat (hive-outbox--sign (hive-outbox--encode record)) "\n"))
                  records "")
       new nil)
      (rename-file new file t))))

(defun hive-outbox-own-files ()
  "Return the names of our existing files, including adopted ones."
  (and (file-directory-p hive-outbox-directory)
       (cl-remove-if-not (lambda (file)
                           (string-prefix-p (hive-outbox--owner)
                                            (file-name-nondirectory file)))
                         (directory-files hive-outbox-directory t hive-outbox--name))))

(defun hive-outbox-adopt ()
  "Adopt the files of dead Emacsen; return their new names."
  (let (adopted)
    (dolist (file (and (file-directory-p hive-outbox-directory)
                       (directory-files hive-outbox-directory t hive-outbox--name)))
      (when (hive-outbox--dead-p file)
        (let ((name (expand-file-name
                     (format "%s-%x%06x.jsonl" (hive-outbox--owner)
                             (floor (* 1000 (hive-now))) (random #x1000000))
                     hive-outbox-directory)))
          ;; For the loser of this race, the file has disappeared.
          (when (ignore-errors (rename-file file name) t)
            (push name adopted)))))
    (nreverse adopted)))

;;;; Entries

(cl-defstruct (hive-outbox-entry (:constructor hive-outbox-entry-make) (:copier nil))
  "An answer or a message in the outbox.  FILE has its records.
TOPIC caches the result of `hive-outbox-entry-subject'.  REPORT is what
collects its outcome, or nil if it is announced by itself.  It is not
sent before DELAYED-UNTIL, in seconds since the epoch."
  file store-id response-id ask-id method params at topic
  (state 'pending) code text (attempts 0) (faults 0) (not-before 0) report (delayed-until 0))

(defun hive-outbox-entry-subject (entry)
  "Return what ENTRY is about: a question, or the conversation of a project.
Entries with the same subject must reach the store in order.  Compare
subjects with `equal'."
  (or (hive-outbox-entry-topic entry)
      (setf (hive-outbox-entry-topic entry)
            (let* ((params (hive-outbox-entry-params entry))
                   (directory (plist-get params :directory)))
              (or (hive-outbox-entry-ask-id entry)
                  (plist-get params :project_dir)
                  (and (stringp directory)
                       (plist-get (hive-place-of directory) :project_dir))
                  'everyone)))))

(defun hive-outbox-entry-first (entries)
  "Return the first entry of each subject in ENTRIES, oldest first.
They need not wait for any other entry."
  (let ((subjects (make-hash-table :test #'equal)))
    (cl-loop for entry in entries
             for subject = (hive-outbox-entry-subject entry)
             unless (gethash subject subjects)
             do (puthash subject t subjects) and collect entry)))

(defun hive-outbox-entry-agent (entry width)
  "Return the title of the agent that asked what ENTRY answers.
It is at most WIDTH columns wide; of a question that is no longer in the
model, only the id is known."
  (let* ((id (hive-outbox-entry-ask-id entry)) (prompt (hive-model-prompt id)))
    (if prompt (hive-text-agent prompt width) (hive-text-line id width))))

(defun hive-outbox-entry-record (entry)
  "Return the record of ENTRY itself."
  (list :entry "added"
        :store_id (hive-outbox-entry-store-id entry)
        :response_id (hive-outbox-entry-response-id entry)
        :ask_id (hive-outbox-entry-ask-id entry)
        :method (hive-outbox-entry-method entry)
        :params (hive-outbox-entry-params entry)
        :at (hive-outbox-entry-at entry)))

(defun hive-outbox-entry-rejection (entry)
  "Return the record that ENTRY was rejected."
  (list :entry "rejected"
        :response_id (hive-outbox-entry-response-id entry)
        :code (hive-outbox-entry-code entry)
        :text (hive-outbox-entry-text entry)))

(defun hive-outbox-entry-closing (entry)
  "Return the record that ENTRY is closed: it was stored, taken back or deleted."
  (list :entry "closed" :response_id (hive-outbox-entry-response-id entry)))

(defconst hive-outbox--methods '("hivemind-response" "prompt/amend" "message/post")
  "The methods that an entry may request; nothing else is sent.")

(defun hive-outbox--trusted-p (record)
  "Return non-nil if RECORD may be sent without asking."
  (and (plist-get record :verified)
       (member (plist-get record :method) hive-outbox--methods)
       t))

(defun hive-outbox-entry-load (file)
  "Return the entries of FILE that are not stored yet, oldest first.
What was not written with our key is unverified, and what such a
record says about another entry is ignored."
  (let ((entries (make-hash-table :test #'equal)) order)
    (dolist (record (hive-outbox-read file))
      (let* ((id (plist-get record :response_id))
             (entry (gethash id entries)))
        (pcase (plist-get record :entry)
          ("added"
           ;; A verified record replaces an unverified one, which the human confirmed.
           (unless (or (null id)
                       (and entry (not (and (eq 'unverified (hive-outbox-entry-state entry))
                                            (hive-outbox--trusted-p record)))))
             (unless entry (push id order))
             (puthash id (hive-outbox-entry-make
                          :file file :response-id id
                          :store-id (plist-get record :store_id)
                          :ask-id (plist-get record :ask_id)
                          :state (if (hive-outbox--trusted-p record) 'pending 'unverified)
                          :method (plist-get record :method)
                          :params (plist-get record :params)
                          :at (plist-get record :at))
                      entries)))
          ("closed" (when (plist-get record :verified) (remhash id entries)))
          ("rejected"
           (when (and entry (plist-get record :verified)
                      (eq 'pending (hive-outbox-entry-state entry)))
             (setf (hive-outbox-entry-state entry) 'rejected
                   (hive-outbox-entry-code entry) (plist-get record :code)
                   (hive-outbox-entry-text entry) (plist-get record :text)))))))
    (delq nil (mapcar (lambda (id) (gethash id entries)) (nreverse order)))))

;;;; State

(defvar hive-outbox-stored-functions nil
  "Called with an entry that was stored, and the sidecar's result.")
(defvar hive-outbox-rejected-functions nil
  "Called with an entry that was rejected; it has the code and the reason.")
(defvar hive-outbox-taken-back-functions nil
  "Called with an entry that the human took back while it was delayed.")

(defvar hive-outbox--entries nil "Entries that are not stored yet, oldest first.")
(defvar hive-outbox--sending nil "The entry that is being sent, or nil.")
(defvar hive-outbox--timer nil "The timer of the next attempt, or nil.")
(defvar hive-outbox--delay 1 "Seconds until the next attempt when the store is busy.")
(defvar hive-outbox--not-before 0 "No attempt before this time.")

(defun hive-outbox-entries (state)
  "Return the entries in STATE, oldest first.
STATE is `pending', `rejected' or `unverified'."
  (cl-remove-if-not (lambda (entry) (eq state (hive-outbox-entry-state entry)))
                    hive-outbox--entries))

(defun hive-outbox--compact (file)
  "Rewrite FILE with its rejected entries, once none in it is pending."
  (let ((left (cl-remove-if-not
               (lambda (entry) (equal file (hive-outbox-entry-file entry)))
               hive-outbox--entries)))
    ;; An unverified entry stays as it was found, for the human to see.
    (unless (or (cl-find-if (lambda (entry) (memq (hive-outbox-entry-state entry) '(pending unverified)))
                            left)
                ;; A file in its place would have a name that is not on disk.
                (and left (equal file hive-outbox--kept)))
      (hive-outbox-rewrite
       file (cl-mapcan (lambda (entry)
                         (list (hive-outbox-entry-record entry)
                               (hive-outbox-entry-rejection entry)))
                       left)))))

(defun hive-outbox--append-record (entry record)
  "Append RECORD about ENTRY to its file, and compact the file.
Errors are only logged: at worst ENTRY is sent again, which is the
same answer."
  (hive-rpc-guarded (lambda ()
                      (hive-outbox-append (hive-outbox-entry-file entry) record)
                      (hive-outbox--compact (hive-outbox-entry-file entry)))))

;;;; Adding entries

(defun hive-outbox-add (ask-id method params text &optional report delay)
  "Write an answer to ASK-ID to disk and send it: METHOD with PARAMS.
ASK-ID is nil for a message.  PARAMS is a plist with :response_id and
:store_id.  On return the answer is on disk.  If it cannot be written,
put TEXT into the kill ring, and signal an error which says that
nothing was sent.  REPORT is the entry's; DELAY is for how many seconds
it is delayed before it is sent, by default none."
  (unless (member method hive-outbox--methods)
    (error "The outbox does not send %s" method))
  (let ((entry (hive-outbox-entry-make
                :file (hive-outbox-file) :ask-id ask-id :params params
                :store-id (plist-get params :store_id)
                :response-id (plist-get params :response_id)
                :method method :at (hive-text-now) :report report
                :delayed-until (if delay (+ (hive-now) delay) 0))))
    (condition-case oops
        (hive-outbox-append (hive-outbox-entry-file entry)
                            (hive-outbox-entry-record entry))
      ((error quit)
       (unless (string-empty-p text) (kill-new text))
       (hive-fail (if ask-id
                      "Hive could not save your answer (%s).  Nothing was sent; the text is in the kill ring"
                    "Hive could not save your message (%s).  Nothing was sent; the text is in the kill ring")
                  (error-message-string oops))))
    (setq hive-outbox--entries (nconc hive-outbox--entries (list entry)))
    (hive-model-set-answered ask-id t)
    (hive-outbox-flush)
    entry))

(defun hive-outbox--adopt (file)
  "Take over the entries of FILE.
A file that cannot be read is left alone, for the next time."
  (let ((entries (hive-outbox-entry-load file)))
    (setq hive-outbox--entries (append hive-outbox--entries entries))
    (dolist (entry entries)
      (when (eq 'pending (hive-outbox-entry-state entry))
        (hive-model-set-answered (hive-outbox-entry-ask-id entry) t)))
    (let ((unverified (cl-count 'unverified entries :key #'hive-outbox-entry-state)))
      (when (> unverified 0)
        (hive-announce
         "The outbox has %s not signed with your key; M-x hive-outbox-review shows them"
         (hive-count unverified "entry" "entries"))))
    (hive-outbox--compact file)))

(defun hive-outbox-open ()
  "Take over the entries of dead Emacsen, and of our own files."
  (hive-outbox-adopt)
  (let ((files (cl-set-difference (hive-outbox-own-files)
                                  (mapcar #'hive-outbox-entry-file hive-outbox--entries)
                                  :test #'equal)))
    (dolist (file files) (hive-rpc-guarded #'hive-outbox--adopt file))
    (when files
      ;; The entries of a dead Emacs are older than those of this one.
      (setq hive-outbox--entries
            (cl-stable-sort hive-outbox--entries #'string<
                            :key (lambda (entry) (format "%s" (hive-outbox-entry-at entry)))))
      (hive-changed))))

(defun hive-outbox-close ()
  "Forget the entries in memory; what is in the files stays for the next time."
  (hive-outbox-tidy)
  (hive-set-timer 'hive-outbox--timer)
  (setq hive-outbox--entries nil
        hive-outbox--sending nil
        hive-outbox--not-before 0
        hive-outbox--delay 1))

;;;; Sending

(defun hive-outbox-sendable-p (entry)
  "Return non-nil if ENTRY is pending and belongs to the connected store."
  (and (eq 'pending (hive-outbox-entry-state entry))
       (member (hive-outbox-entry-store-id entry)
               (list nil (plist-get hive-sidecar-info :store_id)))))

(defun hive-outbox-connected ()
  "Adopt the entries of dead Emacsen and send all pending ones now.
With a new connection, entries that failed need not wait any longer."
  (hive-outbox-open)
  (setq hive-outbox--not-before 0)
  (dolist (entry hive-outbox--entries)
    (setf (hive-outbox-entry-not-before entry) 0))
  (hive-outbox-flush))

(defun hive-outbox-flush ()
  "Send the first entry that is due, unless one is being sent.
When that is done, this is called again."
  (when (and (hive-sidecar-connected-p) (not hive-outbox--sending))
    (let* ((now (hive-now))
           (first (hive-outbox-entry-first (cl-remove-if-not #'hive-outbox-sendable-p
                                                             hive-outbox--entries)))
           (due (cl-find-if (lambda (entry)
                              (<= (hive-outbox--due entry) now))
                            first)))
      (cond
       ((null first))
       ((> hive-outbox--not-before now)
        (hive-outbox--wake hive-outbox--not-before))
       (due (hive-outbox--send due))
       (t (let ((next (apply #'min (mapcar #'hive-outbox--due first))))
            (unless (= next 1.0e+INF) (hive-outbox--wake next))))))))

(defun hive-outbox--due (entry)
  "Return when ENTRY may be sent, in seconds since the epoch."
  (max (hive-outbox-entry-not-before entry) (hive-outbox-entry-delayed-until entry)))

(defun hive-outbox--wake (time)
  "Flush again at TIME, in seconds since the epoch."
  (hive-set-timer 'hive-outbox--timer (max 0.05 (- time (hive-now)))
                  #'hive-rpc-guarded #'hive-outbox-flush))

(defun hive-outbox--send (entry)
  "Send ENTRY to the sidecar."
  (setq hive-outbox--sending entry)
  (cl-incf (hive-outbox-entry-attempts entry))
  (let ((done (lambda (function argument)
                (when (eq hive-outbox--sending entry)
                  (setq hive-outbox--sending nil))
                (when (memq entry hive-outbox--entries)
                  (unwind-protect (funcall function entry argument)
                    (hive-changed)
                    (hive-outbox-flush))))))
    (hive-rpc-request (intern (hive-outbox-entry-method entry))
                      (hive-outbox-entry-params entry)
                      :success (apply-partially done #'hive-outbox--stored)
                      :error (apply-partially done #'hive-outbox--failed))))

(defun hive-outbox--stored (entry result)
  "Remove ENTRY, which is stored; RESULT is the sidecar's reply."
  (setf (hive-outbox-entry-state entry) 'stored)
  (setq hive-outbox--entries (delq entry hive-outbox--entries)
        hive-outbox--delay 1)
  ;; If the news that it is settled comes later, keep it out of the pending ones.
  (let* ((id (hive-outbox-entry-ask-id entry))
         (prompt (hive-model-prompt id)))
    (when (and id (not prompt)) (hive-model-outdate))
    (unless (and prompt (hive-prompt-pending-p prompt))
      (hive-model-set-answered id nil)))
  (hive-outbox--append-record entry (hive-outbox-entry-closing entry))
  (hive-rpc-run-hook 'hive-outbox-stored-functions entry result))

(defun hive-outbox--failed (entry err)
  "Retry or reject ENTRY after ERR, a plist of :code, :name and :text."
  (let ((code (plist-get err :code))
        (later (lambda () (+ (hive-now)
                             (min 60 (expt 2 (min 6 (hive-outbox-entry-attempts entry))))))))
    (pcase (plist-get err :name)
      ((or 'disconnected 'timeout)
       (setf (hive-outbox-entry-not-before entry) (funcall later)))
      ((guard (hive-rpc-failed-p err 'transient)) ; the store is busy for all entries
       (setq hive-outbox--not-before (+ (hive-now) hive-outbox--delay)
             hive-outbox--delay (min 60 (* 2 hive-outbox--delay))))
      ((guard (and (hive-rpc-failed-p err 'internal)
                   (<= (cl-incf (hive-outbox-entry-faults entry)) 3)))
       (setf (hive-outbox-entry-not-before entry) (funcall later)))
      (name (hive-outbox--reject entry (if name (symbol-name name)
                                         (format "%s" code))
                                 (plist-get err :text))))))

(defun hive-outbox--reject (entry code text)
  "Keep ENTRY as rejected, because of CODE and TEXT."
  (setf (hive-outbox-entry-state entry) 'rejected
        (hive-outbox-entry-code entry) code
        (hive-outbox-entry-text entry) (hive-text-sendable (or text "")))
  (hive-model-set-answered (hive-outbox-entry-ask-id entry) nil)
  (hive-outbox--append-record entry (hive-outbox-entry-rejection entry))
  (hive-rpc-run-hook 'hive-outbox-rejected-functions entry))

;;;; Delayed entries

(defun hive-outbox-delayed ()
  "Return the entries that are delayed now and can be taken back, oldest first."
  (cl-remove-if-not (lambda (entry)
                      (and (zerop (hive-outbox-entry-attempts entry))
                           (not (eq entry hive-outbox--sending))
                           (< (hive-now) (hive-outbox-entry-delayed-until entry))))
                    (hive-outbox-entries 'pending)))

(defun hive-outbox-take-back (entry)
  "Take back ENTRY, which is delayed: it is never sent.
Return nil if it is delayed no longer.  On return this is on disk, or the
entry stays delayed for ever and an error says why."
  (when (memq entry (hive-outbox-delayed))
    ;; This Emacs does not send it, even if the disk fails now.
    (setf (hive-outbox-entry-delayed-until entry) 1.0e+INF)
    (hive-outbox-append (hive-outbox-entry-file entry) (hive-outbox-entry-closing entry))
    (setq hive-outbox--entries (delq entry hive-outbox--entries))
    (hive-rpc-guarded #'hive-outbox--compact (hive-outbox-entry-file entry))
    (hive-model-set-answered (hive-outbox-entry-ask-id entry) nil)
    (hive-rpc-run-hook 'hive-outbox-taken-back-functions entry)
    t))

(defun hive-outbox-send-delayed ()
  "Send the delayed entries, without waiting for a reply, as Emacs or Hive ends.
The next Emacs sends those that are not stored by then."
  (dolist (entry (cl-remove 1.0e+INF (hive-outbox-delayed) :key #'hive-outbox-entry-delayed-until))
    (setf (hive-outbox-entry-delayed-until entry) 0)
    (when (and (hive-sidecar-connected-p) (hive-outbox-sendable-p entry))
      (hive-rpc-guarded #'hive-outbox--send entry))))

;;;; Entries that were not written with our key

(defun hive-outbox--print-unverified (entry)
  "Show everything that ENTRY would send in a buffer."
  (display-buffer
   (hive-text-buffer
    "*hive outbox*"
    (lambda ()
      (insert
       (hive-words "This entry in %s is not signed with your key.  Send it only if it is yours."
                   (hive-text-line (hive-outbox-entry-file entry))) "\n\n"
                   (hive-text-line (hive-outbox-entry-method entry)) "\n\n")
      (cl-loop for (key value) on (hive-outbox-entry-params entry) by #'cddr
               do (insert (hive-text-line (substring (symbol-name key) 1)) ": "
                          (hive-text-inert (if (stringp value) value (format "%S" value)))
                          "\n"))))))

(defun hive-outbox--confirm (entry)
  "Send ENTRY, which the human has confirmed, as an answer of this Emacs.
It keeps its id, so if it was stored before, it is not stored twice."
  (let* ((params (copy-sequence (hive-outbox-entry-params entry)))
         (copy (hive-outbox-add
                (hive-outbox-entry-ask-id entry) (hive-outbox-entry-method entry) params
                (format "%s" (or (plist-get params :decision) (plist-get params :body))))))
    ;; In the same file the copy replaces it; a "closed" there would delete both.
    (if (equal (hive-outbox-entry-file copy) (hive-outbox-entry-file entry))
        (setq hive-outbox--entries (delq entry hive-outbox--entries))
      (hive-outbox--discard entry))))

(defun hive-outbox--discard (entry)
  "Forget ENTRY, which is unverified."
  (setq hive-outbox--entries (delq entry hive-outbox--entries))
  (hive-outbox--append-record entry (hive-outbox-entry-closing entry)))

(defun hive-outbox-review ()
  "Show each entry of the outbox that was not written with your key.
You can send it, delete it, or leave it for later.  It may be your own
answer from before the key was there, or one that was planted.  Then
delete the answers that were rejected, if you confirm it: their text is
lost then; `hive-doctor' shows it."
  (interactive)
  (let ((unverified (hive-outbox-entries 'unverified)) (rejected (hive-outbox-entries 'rejected)))
    (unless (or unverified rejected)
      (hive-say "Nothing in the outbox needs you: all of it is signed with your key, and none is rejected"))
    (dolist (entry (copy-sequence unverified))
      (hive-outbox--print-unverified entry)
      (let ((known (member (hive-outbox-entry-method entry) hive-outbox--methods)))
        (pcase (read-char-choice (hive-words (if known
                                                 "[s] send it as your own  [d] delete it  [l] later "
                                               "This is neither an answer nor a message, so it cannot be sent.  [d] delete it  [l] later "))
                                 (if known '(?s ?d ?l) '(?d ?l)))
          (?s (hive-outbox--confirm entry))
          (?d (hive-outbox--discard entry)))))
    (when (and rejected
               (yes-or-no-p (hive-words "Delete %s? "
                                        (hive-count (length rejected) "rejected answer"))))
      (setq hive-outbox--entries
            (cl-remove-if (lambda (entry) (memq entry rejected)) hive-outbox--entries))
      (dolist (entry rejected)
        (hive-outbox--append-record entry (hive-outbox-entry-closing entry))))
    (hive-changed)))

(provide 'hive-outbox)
;;; hive-outbox.el ends here
