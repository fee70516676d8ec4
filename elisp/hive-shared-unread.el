;;; hive-shared-unread.el --- Which messages the human has not read  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A message is unread until a buffer that has it is in a window on the screen.
;; Your own messages are not counted.  Messages that were unread when you looked
;; are below a line, until you post, or until more are new when you look again.
;;
;; A file records what has been read, so messages that were posted while Emacs
;; was not running are unread when it connects again.  The file has, for each
;; store, the seq of the last message that was known, and for each project with
;; unread messages the seq of the first of them.  From these two and the store
;; everything else follows.

;;; Code:

(require 'cl-lib)
(require 'hive-display)
(require 'hive-model)
(require 'hive-rpc)
(require 'hive-shared-view)
(require 'hive-text)
(require 'seq)

(defvar hive-shared-read-file (locate-user-emacs-file "hive/read.eld")
  "The file that says which messages have been read.")

(defvar hive-shared-unread (make-hash-table :test #'equal)
  "The unread messages.
The keys are the directories of projects, and nil for everyone's buffer.
A value is a list: how many, the last one, and the seq of the first one.")

(defvar hive-shared--known nil
  "The seq of the last message that is known, or nil if that is not known yet.")
(defvar hive-shared--known-store nil "The id of the store that `hive-shared--known' is about.")

(defun hive-shared-unread-count ()
  "Return how many messages are unread."
  (let ((count 0))
    (maphash (lambda (_key unread) (cl-incf count (car unread))) hive-shared-unread)
    count))

;;;; Counting

(defun hive-shared--count-unread (message)
  "Count MESSAGE as unread, unless the human sees it or wrote it."
  (unless (or (equal "human" (plist-get message :author))
              (cl-some (lambda (buffer)
                         (and (hive-display-visible-p buffer)
                              (with-current-buffer buffer (hive-shared-ours-p message))))
                       (hive-shared-buffers)))
    (let* ((project-dir (plist-get message :project_dir))
           (before (gethash project-dir hive-shared-unread)))
      (puthash project-dir
               (list (1+ (or (car before) 0)) message
                     (or (nth 2 before) (plist-get message :seq)))
               hive-shared-unread)
      (hive-changed))))

(defun hive-shared--note-posted (message)
  "Count MESSAGE, which has just been posted."
  (unless (hive-rpc-arrive 'message/list message)
    (hive-shared--count-unread message)
    (when hive-shared--known
      (setq hive-shared--known (max (plist-get message :seq) hive-shared--known))
      (hive-shared--save-soon))))

(cl-defmethod hive-rpc-handle :before ((_method (eql 'message/posted)) message)
  "Count MESSAGE as unread, unless the human sees it."
  (hive-rpc-guarded #'hive-shared--note-posted message))

(defun hive-shared-set-read ()
  "Note that the human sees the messages of this buffer."
  (let ((project-dir (plist-get hive-shared-place :project_dir)))
    (when (and (null hive-shared-thread)
               (if project-dir (gethash project-dir hive-shared-unread)
                 (> (hash-table-count hive-shared-unread) 0)))
      (let ((count 0) (first nil))
        ;; Everyone's buffer shows the messages of all projects.
        (maphash (lambda (key unread)
                   (when (or (null project-dir) (equal key project-dir))
                     (cl-incf count (car unread))
                     (setq first (min (nth 2 unread) (or first (nth 2 unread))))))
                 hive-shared-unread)
        (setq hive-shared-news (cons count first)))
      (hive-shared-show-news)
      (if project-dir (remhash project-dir hive-shared-unread)
        (clrhash hive-shared-unread))
      (hive-changed)
      (hive-shared--save-soon))))

;;;; The file

(defun hive-shared--read-marks ()
  "Return the content of the file, a list with an entry for each store.
An entry is the id of the store, the seq of the last message that was
known, and for each project with unread messages a cons of its directory
and the seq of the first of them.  Return nil if the file is missing or
damaged; then nothing is unread."
  (condition-case oops
      (when (file-readable-p hive-shared-read-file)
        (with-temp-buffer
          (let ((coding-system-for-read 'utf-8-unix))
            (insert-file-contents hive-shared-read-file))
          (let ((marks (read (current-buffer))))
            (cl-remove-if-not #'hive-shared--mark-p (and (proper-list-p marks) marks)))))
    ((end-of-file invalid-read-syntax file-error)
     (hive-rpc-log "%s could not be read: %s" hive-shared-read-file (error-message-string oops))
     nil)))

(defun hive-shared--mark-p (mark)
  "Return non-nil if MARK is an entry of the file."
  (pcase mark
    (`(,(pred stringp) ,(pred natnump) . ,(and (pred proper-list-p) firsts))
     (cl-every (lambda (first) (natnump (cdr-safe first))) firsts))))

(defconst hive-shared--stores 20 "How many stores the file remembers.")

(defvar hive-shared--save-timer nil "The timer that will write the file, or nil.")

(defun hive-shared--save-soon ()
  "Write the file in a moment."
  (unless hive-shared--save-timer
    (setq hive-shared--save-timer (hive-later 1 #'hive-rpc-guarded #'hive-shared--save))))

(defun hive-shared--save ()
  "Write the file now, if something in it has changed.
Two Emacsen that know the same store share it; the last one to write decides."
  (when (timerp hive-shared--save-timer) (cancel-timer hive-shared--save-timer))
  (setq hive-shared--save-timer nil)
  (when hive-shared--known
    (let* ((marks (hive-shared--read-marks))
           (mark (list hive-shared--known-store hive-shared--known))
           (new (cons mark (cl-remove hive-shared--known-store marks :key #'car :test #'equal))))
      (maphash (lambda (project-dir unread)
                 (setcdr (last mark) (list (cons project-dir (nth 2 unread)))))
               hive-shared-unread)
      (unless (equal new marks)
        (let ((print-length nil) (print-level nil))
          (hive-text-write hive-shared-read-file
                           (prin1-to-string (seq-take new hive-shared--stores))))))))

(defun hive-shared--save-at-end ()
  "Write the file if that is due, as Emacs or the connection ends.
Do not create its folder for that: it may be being removed as Emacs ends."
  (when (and hive-shared--save-timer
             (file-directory-p (file-name-directory hive-shared-read-file)))
    (hive-rpc-guarded #'hive-shared--save)))

(add-hook 'kill-emacs-hook #'hive-shared--save-at-end)

;;;; After Emacs has connected

(defconst hive-shared--page 200 "How many messages one request asks for.")
(defconst hive-shared--most 1000 "After so many messages no older ones are fetched.")

(defun hive-shared--catch-up-unread ()
  "Find out what was posted while Emacs was not connected."
  (let ((store (plist-get hive-sidecar-info :store_id)))
    (setq hive-shared--known nil
          hive-shared--known-store store)
    (hive-shared--fetch-unread (cdr (assoc store (hive-shared--read-marks))) nil)))

(defun hive-shared--fetch-unread (mark messages)
  "Fetch what was posted since MARK, a page before MESSAGES; then count it.
MARK is the seq that was known last and the firsts of projects.  On the
first day it is nil: then nothing is unread."
  (let ((since (apply #'min (or (car mark) 0)
                      (mapcar (lambda (first) (1- (cdr first))) (cdr mark)))))
    (hive-rpc-fetch
     'message/list
     (append (when messages (list :before (plist-get (car messages) :seq)))
             (list :limit (if mark hive-shared--page 1)))
     :for nil
     :arrived (and messages hive-rpc-arrived)
     :then
     (lambda (page)
       (let* ((older (append (plist-get page :messages) nil))
              (all (append older messages)))
         (if (and mark older (eq t (plist-get page :more))
                  (> (plist-get (car older) :seq) (1+ since))
                  (< (length all) hive-shared--most))
             (hive-shared--fetch-unread mark all)
           (hive-shared--count-fetched mark all))))
     :problem
     (lambda (_sentence err)
       ;; The file stays as it is, so that the next fetch finds what is unread.
       (mapc #'hive-shared--note-posted hive-rpc-arrived)
       (hive-rpc-again err #'hive-shared--catch-up-unread)))))

(defun hive-shared--count-fetched (mark messages)
  "Count those of MESSAGES, oldest first, that are unread according to MARK."
  (let ((last (or (plist-get (car (last messages)) :seq) 0)))
    (clrhash hive-shared-unread)
    (setq hive-shared--known last)
    (when mark
      (dolist (message messages)
        (let* ((seq (plist-get message :seq))
               (first (cdr (assoc (plist-get message :project_dir) (cdr mark)))))
          (when (or (> seq (car mark)) (and first (>= seq first)))
            (hive-shared--count-unread message)))))
    ;; The fetch may have had them already.
    (dolist (message hive-rpc-arrived)
      (when (> (plist-get message :seq) last) (hive-shared--note-posted message)))
    (hive-shared--save-soon)
    (hive-changed)))

(add-hook 'hive-connected-hook #'hive-shared--catch-up-unread)

(defun hive-shared--forget-unread ()
  "Save what is unread when the sidecar is away; forget it when Hive is off."
  (unless (hive-sidecar-connected-p)
    (hive-shared--save-at-end)
    (when (eq hive-sidecar-state 'off)
      (clrhash hive-shared-unread)
      (hive-rpc-forget-fetch 'message/list)
      (setq hive-shared--known nil))))

(add-hook 'hive-sidecar-state-hook #'hive-shared--forget-unread)

(provide 'hive-shared-unread)
;;; hive-shared-unread.el ends here
