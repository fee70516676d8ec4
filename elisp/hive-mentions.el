;;; hive-mentions.el --- What was said to you  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; The mentions of the human that nobody has dealt with yet.  They are
;; counted in the mode line and said once in the echo area; that is all that
;; happens when one arrives.  `hive-check-mentions' shows them.

;;; Code:

(require 'cl-lib)
(require 'hive-model)
(require 'hive-notify)
(require 'hive-respond)
(require 'hive-rpc)
(require 'hive-sidecar)
(require 'hive-text)
(require 'hive-work)

(defconst hive-mentions-human "human" "Whom @Human addresses, in place of a session.")

(defvar hive-mentions-changed-functions nil
  "Called with each mention, of whomever, with which something happened.")

(defvar hive-mentions-arrived-functions nil
  "Called with each mention of the human that is new to this Emacs.")

(defvar hive-mentions--open (make-hash-table :test #'equal)
  "Mentions of the human that wait, by the ids of their messages.")

(defconst hive-mentions--most 500 "How many mentions are known at most.")

;;;; What waits

(defun hive-mentions-open ()
  "Return the mentions of the human that wait, oldest first."
  (let (mentions)
    (maphash (lambda (_id mention) (push mention mentions)) hive-mentions--open)
    (sort mentions (lambda (a b) (< (plist-get a :seq) (plist-get b :seq))))))

(defun hive-mentions-count ()
  "Return how many mentions of the human wait."
  (hash-table-count hive-mentions--open))

(defun hive-mentions-open-p (message)
  "Return the mention of the human in MESSAGE if it waits, or nil."
  (gethash (plist-get message :message_id) hive-mentions--open))

(defun hive-mentions-waiting-p (mention)
  "Return non-nil while nobody has dealt with MENTION."
  (equal "unprocessed" (plist-get mention :status)))

;;;; What the sidecar tells

(defun hive-mentions--take (mention)
  "Remember MENTION, of the human, as it now is; return non-nil if it is new."
  (let* ((id (plist-get mention :message_id))
         (known (gethash id hive-mentions--open)))
    (cond ((not (hive-mentions-waiting-p mention))
           (remhash id hive-mentions--open)
           nil)
          ((or known (< (hive-mentions-count) hive-mentions--most))
           (puthash id mention hive-mentions--open)
           (not known)))))

(defvar hive-mentions--fresh nil "Mentions that were not told of yet, newest first.")
(defvar hive-mentions--meanwhile nil
  "While a list is fetched, a cons whose cdr is what was told meanwhile.")
(defvar hive-mentions--timer nil "The timer that will tell of them, or nil.")

(defconst hive-mentions--together 0.3
  "Mentions that come within so many seconds are told of in one line.")

(defun hive-mentions--arrived (mentions)
  "Tell soon of MENTIONS, which are new, oldest first."
  (dolist (mention mentions)
    (run-hook-wrapped 'hive-mentions-arrived-functions
                      (lambda (function) (hive-work-guarded function mention) nil)))
  (when (and mentions hive-notify-echo)
    (setq hive-mentions--fresh (append (reverse mentions) hive-mentions--fresh))
    (unless hive-mentions--timer
      (setq hive-mentions--timer
            (run-at-time hive-mentions--together nil #'hive-mentions--tell)))))

(defun hive-mentions--tell ()
  "Tell in one line of the mentions that are new and still wait."
  (setq hive-mentions--timer nil)
  (let* ((fresh (cl-remove-if-not #'hive-mentions-open-p
                                  (nreverse (prog1 hive-mentions--fresh
                                              (setq hive-mentions--fresh nil)))))
         (first (car fresh))
         (others (length (cdr fresh))))
    (when first
      (hive-notify-say "%s mentions you: %s%s%s"
                       (hive-text-author first 40)
                       (hive-text-line (plist-get first :body)
                                       (max 20 (- (frame-width) 70)))
                       (if (> others 0) (format " (and %d more)" others) "")
                       (substitute-command-keys "  \\[hive-check-mentions]")))))

(cl-defmethod hive-rpc-notify ((_method (eql 'mention/changed)) mention)
  "Take MENTION, with which something happened."
  (when (equal hive-mentions-human (plist-get mention :session_id))
    (when hive-mentions--meanwhile (push mention (cdr hive-mentions--meanwhile)))
    (when (hive-mentions--take mention)
      (hive-mentions--arrived (list mention)))
    (hive-changed))
  (run-hook-wrapped 'hive-mentions-changed-functions
                    (lambda (function) (hive-work-guarded function mention) nil)))

(defun hive-mentions-refresh ()
  "Ask the sidecar what waits for the human."
  (setq hive-mentions--meanwhile (list 'told))
  (hive-rpc-request
   'mention/list (list :status "unprocessed" :limit hive-mentions--most)
   :success
   (lambda (result)
     (let ((before (copy-hash-table hive-mentions--open))
           (now (append (plist-get result :mentions) nil)))
       (clrhash hive-mentions--open)
       (let ((fresh (cl-remove-if-not
                     (lambda (mention)
                       (and (hive-mentions--take mention)
                            (not (gethash (plist-get mention :message_id) before))))
                     now)))
         ;; What was told since may be newer than the list.
         (mapc #'hive-mentions--take (reverse (cdr hive-mentions--meanwhile)))
         (setq hive-mentions--meanwhile nil)
         (hive-mentions--arrived
          (sort fresh (lambda (a b) (< (plist-get a :seq) (plist-get b :seq)))))
         (dolist (mention now)
           (run-hook-with-args 'hive-mentions-changed-functions mention)))
       (hive-changed)))
   :error (lambda (err)
            (setq hive-mentions--meanwhile nil)
            (hive-work-log "no mentions: %S" err))))

(defun hive-mentions--sidecar ()
  "Forget what waits when Hive is turned off."
  (when (eq hive-sidecar-state 'off)
    (clrhash hive-mentions--open)))

(add-hook 'hive-connected-hook #'hive-mentions-refresh)
(add-hook 'hive-sidecar-state-hook #'hive-mentions--sidecar)

;;;; Dealing with them

(cl-defun hive-mentions-process (ids &key session all note then)
  "Note that the mentions with IDS, a list, are dealt with.
They are those of SESSION, a handle, or the human's own.  With ALL,
all of them are.  NOTE is what was done.  THEN is called when the
store has it."
  (hive-rpc-request
   'mention/process
   `( ,@(if all (list :all t) (list :mention_ids (vconcat ids)))
      ,@(when session (list :session session))
      ,@(when (and note (not (string-blank-p note)))
          (list :note (hive-text-sendable note)))
      :by ,(hive-human-name))
   :success (lambda (result)
              (let ((done (length (plist-get result :processed)))
                    (left (plist-get result :remaining)))
                (hive-notify-say "%d mention%s done, %s left"
                                 done (if (= done 1) "" "s") left))
              (when then (funcall then)))
   :error (lambda (err)
            (hive-notify-say "Hive could not note that: %s"
                             (hive-text-line (plist-get err :text) 200)))))

(provide 'hive-mentions)
;;; hive-mentions.el ends here
