;;; hive-notices.el --- What the human should know, to be read again  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; A guard gave up, a loop was stopped, an agent ended and owed a report: such
;; notices are said in one line, and can be read again here; what was told
;; before this Emacs started comes from the store.  An answer that could not
;; be taken is one of them, with everything that was sent.

;;; Code:

(require 'cl-lib)
(require 'hive-notify)
(require 'hive-rpc)
(require 'hive-sidecar)
(require 'hive-text)
(require 'hive-work)
(require 'hive-wrap)

(defconst hive-notices--kept 200 "How many notices are kept.")
(defconst hive-notices--name "*hive notices*" "The name of their buffer.")

(defvar hive-notices--list nil "The notices, newest first.")

(cl-defmethod hive-rpc-notify ((_method (eql 'desk/notice)) notice)
  "Say NOTICE and keep it."
  (hive-notices--keep (cons notice hive-notices--list))
  (unless (hive-notices--said-p notice)
    (hive-notify-say "Hive: %s" (hive-text-line (plist-get notice :text) 300))))

(defun hive-notices--said-p (notice)
  "Return non-nil if the human knows of NOTICE already.
That an answer of this Emacs was refused, its outbox has said."
  (and (equal "unread_answer" (plist-get notice :notice))
       (eq t (plist-get notice :sender_told))
       (equal (plist-get notice :from) (plist-get hive-sidecar-info :desk_id))))

(defun hive-notices--keep (notices)
  "Keep NOTICES, newest first, as far as there is room."
  (let ((last (nthcdr (1- hive-notices--kept) notices)))
    (when last (setcdr last nil)))
  (setq hive-notices--list notices)
  (hive-work-guarded #'hive-notices--show))

(defun hive-notices--fetch ()
  "Fetch what the store knows of earlier notices."
  (hive-rpc-request
   'notice/list (list :limit hive-notices--kept)
   :success
   (lambda (result)
     (let* ((stored (append (plist-get result :notices) nil))
            (newest (or (plist-get (car stored) :notice_id) -1)))
       ;; What was told while the answer was on its way is newer than it.
       (hive-notices--keep
        (append (cl-remove-if-not (lambda (notice) (> (or (plist-get notice :notice_id) -1) newest))
                                  hive-notices--list)
                stored))))
   :error (lambda (err) (hive-work-log "no earlier notices: %S" err))))

(add-hook 'hive-connected-hook #'hive-notices--fetch)

(defun hive-notices--show ()
  "Print the notices into their buffer, if there is one."
  (let ((buffer (get-buffer hive-notices--name)))
    (when buffer
      (with-current-buffer buffer
        (let ((inhibit-read-only t) (place (point)))
          (erase-buffer)
          (unless hive-notices--list (insert "Nothing was said so far.\n"))
          (dolist (notice hive-notices--list)
            (insert (propertize (concat (hive-text-age (plist-get notice :at)) " ago  ")
                                'face 'shadow)
                    (propertize (hive-text-inert (plist-get notice :text))
                                'face (and (equal "error" (plist-get notice :severity))
                                           'error))
                    "\n")
            (when (stringp (plist-get notice :sent))
              (insert (propertize "Sent:" 'face 'shadow) " "
                      (hive-text-inert (plist-get notice :sent)) "\n")))
          (hive-wrap-heed (point-min) (point-max))
          (goto-char (min place (point-max))))))))

;;;###autoload
(defun hive-notices ()
  "Read again what Hive told you: guards that gave up, reports that are owed."
  (interactive)
  (with-current-buffer (get-buffer-create hive-notices--name)
    (unless (derived-mode-p 'special-mode)
      (special-mode)
      (visual-line-mode)
      (setq bidi-paragraph-direction 'left-to-right)
      (setq-local revert-buffer-function (lambda (&rest _) (hive-notices--show))))
    (hive-notices--show)
    (goto-char (point-min)))
  (pop-to-buffer hive-notices--name))

(provide 'hive-notices)
;;; hive-notices.el ends here
