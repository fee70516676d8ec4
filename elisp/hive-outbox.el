;;; hive-outbox.el --- Answers on their way to the store  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; What the human answered is written to disk before anything is said, and
;; dropped only when the sidecar has stored it.  It survives the death of
;; Emacs, of the sidecar, and of both.
;;
;;     pending ──▶ acked      the sidecar stored it, or an answer stood already
;;             └─▶ rejected   it can never be stored; kept and shown
;;
;; Only what may pass is tried again: a sidecar that is away or silent, a
;; store that is busy.  What is about the same question, or in the same
;; conversation, goes out in order: it waits while an earlier entry is tried
;; again.  About anything else a bad entry never delays the next one.

;;; Code:

(require 'cl-lib)
(require 'hive-entry)
(require 'hive-journal)
(require 'hive-model)
(require 'hive-rpc)
(require 'hive-sidecar)
(require 'hive-text)
(require 'hive-waiting)
(require 'hive-work)

(defvar hive-outbox-acked-functions nil
  "Called with an entry that was stored and the sidecar's result.")
(defvar hive-outbox-rejected-functions nil
  "Called with an entry that was rejected; it holds code and text.")

(defvar hive-outbox--entries nil "Entries that are not acked, oldest first.")
(defvar hive-outbox--sending nil "The entry that the sidecar has, or nil.")
(defvar hive-outbox--timer nil "The timer of the next attempt, or nil.")
(defvar hive-outbox--delay 1 "Seconds to wait when the store is busy.")
(defvar hive-outbox--not-before 0 "No attempt before this time.")

(defun hive-outbox-entries (state)
  "Return the entries in STATE, `pending' or `rejected', oldest first."
  (cl-remove-if-not (lambda (entry) (eq state (hive-entry-state entry)))
                    hive-outbox--entries))

(defun hive-outbox--compact (file)
  "Rewrite FILE with what is left of it, once nothing in it is pending."
  (let ((left (cl-remove-if-not
               (lambda (entry) (equal file (hive-entry-file entry)))
               hive-outbox--entries)))
    (unless (cl-find 'pending left :key #'hive-entry-state)
      (hive-journal-rewrite
       file (cl-mapcan (lambda (entry)
                         (list (hive-entry-record entry)
                               (hive-entry-rejection entry)))
                       left)))))

(defun hive-outbox--note (entry record)
  "Append RECORD about ENTRY to its file, and compact that.
An error is only logged: the worst is that ENTRY is sent once
more, which is the same answer."
  (hive-work-guarded (lambda ()
                      (hive-journal-append (hive-entry-file entry) record)
                      (hive-outbox--compact (hive-entry-file entry)))))

;;;; In

(defun hive-outbox-add (ask-id method params text)
  "Keep an answer to ASK-ID safe and send it: METHOD with PARAMS.
What answers nothing, a message, has nil as its ASK-ID.  PARAMS is a
plist with :response_id and :store_id.  On return all is on the disk.
When it cannot be written, TEXT goes to the kill ring and an error
says that nothing was sent."
  (let ((entry (hive-entry-make
                :file (hive-journal-file) :ask-id ask-id :params params
                :store-id (plist-get params :store_id)
                :response-id (plist-get params :response_id)
                :method method :at (hive-text-now))))
    (condition-case oops
        (hive-journal-append (hive-entry-file entry)
                             (hive-entry-record entry))
      ((error quit)
       (unless (string-empty-p text) (kill-new text))
       (user-error
        "Hive could not save your %s, so nothing was sent; it is in the kill ring (%s)"
        (if ask-id "answer" "message") (error-message-string oops))))
    (setq hive-outbox--entries (nconc hive-outbox--entries (list entry)))
    (hive-model-set-answered ask-id t)
    (hive-outbox-flush)
    entry))

(defun hive-outbox--take (file)
  "Take over the entries of FILE.
A file that cannot be read stays as it is, for the next time."
  (let ((entries (hive-entry-load file)))
    (setq hive-outbox--entries (append hive-outbox--entries entries))
    (dolist (entry entries)
      (when (eq 'pending (hive-entry-state entry))
        (hive-model-set-answered (hive-entry-ask-id entry) t)))
    (hive-outbox--compact file)))

(defun hive-outbox-open ()
  "Take over what dead Emacsen left, and what this one left before."
  (hive-journal-adopt)
  (let ((files (cl-set-difference (hive-journal-own)
                                  (mapcar #'hive-entry-file hive-outbox--entries)
                                  :test #'equal)))
    (dolist (file files) (hive-work-guarded #'hive-outbox--take file))
    (when files
      ;; What a dead Emacs left is older than what this one has.
      (setq hive-outbox--entries
            (cl-stable-sort hive-outbox--entries #'string<
                            :key (lambda (entry) (format "%s" (hive-entry-at entry)))))
      (hive-changed))))

(defun hive-outbox-close ()
  "Forget what is in memory; the files stay for the next time."
  (when hive-outbox--timer (cancel-timer hive-outbox--timer))
  (setq hive-outbox--entries nil
        hive-outbox--sending nil
        hive-outbox--timer nil
        hive-outbox--not-before 0
        hive-outbox--delay 1))

;;;; Out

(defun hive-outbox-sendable-p (entry)
  "Return non-nil if ENTRY is pending and meant for the connected store."
  (and (eq 'pending (hive-entry-state entry))
       (member (hive-entry-store-id entry)
               (list nil (plist-get hive-sidecar-info :store_id)))))

(defun hive-outbox-connected ()
  "Adopt what dead Emacsen left and send everything that is pending, now.
A new connection makes good what the last one failed at."
  (hive-outbox-open)
  (setq hive-outbox--not-before 0)
  (dolist (entry hive-outbox--entries)
    (setf (hive-entry-not-before entry) 0))
  (hive-outbox-flush))

(defun hive-outbox-flush ()
  "Send the first entry whose time has come, unless one is on its way.
Its settlement calls this again."
  (when (and (hive-sidecar-connected-p) (not hive-outbox--sending))
    (let* ((now (float-time))
           (first (hive-entry-first (cl-remove-if-not #'hive-outbox-sendable-p
                                                      hive-outbox--entries)))
           (due (cl-find-if (lambda (entry)
                              (<= (hive-entry-not-before entry) now))
                            first)))
      (cond
       ((null first))
       ((> hive-outbox--not-before now)
        (hive-outbox--wake hive-outbox--not-before))
       (due (hive-outbox--send due))
       (t (hive-outbox--wake
           (apply #'min (mapcar #'hive-entry-not-before first))))))))

(defun hive-outbox--wake (time)
  "Flush again at TIME, in seconds since the epoch."
  (when hive-outbox--timer (cancel-timer hive-outbox--timer))
  (setq hive-outbox--timer
        (run-at-time (max 0.05 (- time (float-time))) nil
                     (lambda ()
                       (setq hive-outbox--timer nil)
                       (hive-work-guarded #'hive-outbox-flush)))))

(defun hive-outbox--send (entry)
  "Send ENTRY to the sidecar."
  (setq hive-outbox--sending entry)
  (cl-incf (hive-entry-attempts entry))
  (let ((done (lambda (function argument)
                (when (eq hive-outbox--sending entry)
                  (setq hive-outbox--sending nil))
                (when (memq entry hive-outbox--entries)
                  (unwind-protect (funcall function entry argument)
                    (hive-changed)
                    (hive-outbox-flush))))))
    (hive-rpc-request (intern (hive-entry-method entry))
                      (hive-entry-params entry)
                      :success (apply-partially done #'hive-outbox--acked)
                      :error (apply-partially done #'hive-outbox--failed))))

(defun hive-outbox--acked (entry result)
  "Drop ENTRY, of which the sidecar said RESULT: it is stored."
  (setf (hive-entry-state entry) 'acked)
  (setq hive-outbox--entries (delq entry hive-outbox--entries)
        hive-outbox--delay 1)
  ;; Where the news that it is settled comes later, it is not to wait again.
  (let ((prompt (hive-model-prompt (hive-entry-ask-id entry))))
    (unless (and prompt (hive-prompt-pending-p prompt))
      (hive-model-set-answered (hive-entry-ask-id entry) nil)))
  (hive-outbox--note entry (list :entry "acked" :response_id
                                 (hive-entry-response-id entry)))
  (run-hook-with-args 'hive-outbox-acked-functions entry result))

(defun hive-outbox--failed (entry err)
  "Decide what becomes of ENTRY after ERR, a plist of :code, :name, :text."
  (let ((code (plist-get err :code))
        (later (lambda () (+ (float-time)
                             (min 60 (expt 2 (min 6 (hive-entry-attempts entry))))))))
    (pcase (plist-get err :name)
      ((or 'disconnected 'timeout)
       (setf (hive-entry-not-before entry) (funcall later)))
      ((guard (hive-rpc-failed-p err 'transient)) ; the store is busy for all alike
       (setq hive-outbox--not-before (+ (float-time) hive-outbox--delay)
             hive-outbox--delay (min 60 (* 2 hive-outbox--delay))))
      ((guard (and (hive-rpc-failed-p err 'internal)
                   (<= (cl-incf (hive-entry-faults entry)) 3)))
       (setf (hive-entry-not-before entry) (funcall later)))
      (name (hive-outbox--reject entry (if name (symbol-name name)
                                         (format "%s" code))
                                 (plist-get err :text))))))

(defun hive-outbox--reject (entry code text)
  "Keep ENTRY as rejected, because of CODE and TEXT; nothing will mend it."
  (setf (hive-entry-state entry) 'rejected
        (hive-entry-code entry) code
        (hive-entry-text entry) (hive-text-sendable (or text "")))
  (hive-model-set-answered (hive-entry-ask-id entry) nil)
  (hive-outbox--note entry (hive-entry-rejection entry))
  (run-hook-with-args 'hive-outbox-rejected-functions entry))

(defun hive-outbox-forget-rejected ()
  "Delete the answers that could not be stored.
Their texts are gone then; `hive-doctor' shows them."
  (interactive)
  (let ((rejected (hive-outbox-entries 'rejected)))
    (when (and rejected
               (yes-or-no-p (format "Delete %d rejected answer(s)? "
                                    (length rejected))))
      (setq hive-outbox--entries
            (cl-remove-if (lambda (entry) (memq entry rejected)) hive-outbox--entries))
      (dolist (entry rejected)
        (hive-outbox--note entry (list :entry "acked" :response_id
                                       (hive-entry-response-id entry))))
      (hive-changed))))

(provide 'hive-outbox)
;;; hive-outbox.el ends here
