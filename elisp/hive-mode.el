;;; hive-mode.el --- Answer your coding agents when it suits you  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;; Author: The Hive contributors
;; Version: 0.1.0
;; Package-Requires: ((emacs "28.1"))
;; Keywords: tools, processes, convenience
;; URL: https://github.com/hive-sidecar/hive

;; Permission is hereby granted, free of charge, to any person obtaining a
;; copy of this software and associated documentation files (the
;; "Software"), to deal in the Software without restriction, including
;; without limitation the rights to use, copy, modify, merge, publish,
;; distribute, sublicense, and/or sell copies of the Software, and to permit
;; persons to whom the Software is furnished to do so, subject to the
;; following conditions: the above copyright notice and this permission
;; notice shall be included in all copies or substantial portions of the
;; Software.  The Software is provided "as is", without warranty of any kind.

;;; Commentary:

;; Coding agents need you now and then: a choice, a permission, a fact that
;; nobody wrote down.  With Hive they ask without stopping, and you answer
;; when it suits you:
;;
;;   M-x hive-mode      start Hive; the mode line counts who waits
;;   M-x hive-respond   answer the most urgent question
;;   M-x hive-next      answer one after the other, a key each
;;   M-x hive-list      see all that wait
;;   M-x hive-shared    the buffer in which agents and you talk
;;   M-x hive-sessions  see who is here
;;   M-x hive-doctor    see what is wrong, and what to do about it
;;
;; Nothing that arrives opens a minibuffer, moves point, selects a window or
;; interrupts a command, and no answer is ever lost.

;;; Code:

(require 'hive-amend)
(require 'hive-doctor)
(require 'hive-history)
(require 'hive-interrupt)
(require 'hive-list)
(require 'hive-mentions)
(require 'hive-messages)
(require 'hive-mode-line)
(require 'hive-model)
(require 'hive-next)
(require 'hive-notify)
(require 'hive-outbox)
(require 'hive-outreach)
(require 'hive-respond)
(require 'hive-rpc)
(require 'hive-sessions)
(require 'hive-shared)
(require 'info)

;;;; The manual in Info

;; The manual lies beside these files, where the package was installed with
;; npm or by a package manager.  In a clone, `npm run build' makes it.

(defconst hive-mode--directory
  (file-name-directory (or load-file-name buffer-file-name default-directory))
  "Where the manual lies.")

;; The menu of C-h i lists it then.
(add-to-list 'Info-additional-directory-list hive-mode--directory)

;;;###autoload
(defun hive-manual ()
  "Read the manual of Hive in Info."
  (interactive)
  (if (file-exists-p (expand-file-name "hive.info" hive-mode--directory))
      (info (format "(%s)" (expand-file-name "hive.info" hive-mode--directory)))
    (hive-fail 'manual-missing
               (abbreviate-file-name (file-name-directory
                                      (directory-file-name hive-mode--directory))))))

;;;; Answer your coding agents when it suits you

;; Whoever has this file on the `load-path' needs no autoloads for these.
(autoload 'hive "hive-menu" "Answer your coding agents." t)
(autoload 'hive-prefix-map "hive-menu" "Keys of Hive." t 'keymap)

;;;; Options

(defgroup hive nil
  "Human in the loop for coding agents."
  :group 'tools
  :link '(url-link "https://github.com/hive-sidecar/hive")
  :link '(custom-manual "(hive)Hive in Emacs")
  :prefix "hive-")

;;;; Focus

(defvar hive-mode--focused 'unknown
  "What the sidecar was told of the focus: t, nil, or `unknown'.")

(defun hive-mode--focus ()
  "Tell the sidecar when Emacs gets or loses the focus.
The desk that has it shows desktop notifications first."
  (let* ((states (mapcar #'frame-focus-state (frame-list)))
         (focused (cond ((memq t states) t)
                        ((memq nil states) nil)
                        (t 'unknown))))  ; a terminal that does not tell
    (unless (or (eq focused hive-mode--focused) (eq focused 'unknown))
      (setq hive-mode--focused focused)
      (when (hive-sidecar-connected-p)
        (hive-rpc-request 'desk/focus
                          (list :focused (if focused t :json-false)))))))

;;;; The mode

(defun hive-mode--connected ()
  "Bring both sides up to date after a handshake."
  (setq hive-mode--focused 'unknown)
  (hive-mode--focus)
  (hive-outbox-connected)
  (hive-feed-refresh))

(defun hive-mode--enable ()
  "Start everything; wait for nothing."
  (add-hook 'hive-changed-hook #'hive-mode-line-update)
  (add-hook 'hive-sidecar-state-hook #'hive-changed)
  (add-hook 'hive-connected-hook #'hive-mode--connected)
  (add-hook 'kill-emacs-hook #'hive-sidecar-goodbye)
  (add-function :after after-focus-change-function #'hive-mode--focus)
  (unless (member '(:eval hive-mode-line-text) (default-value 'global-mode-string))
    (setq-default global-mode-string
                  (append (or (default-value 'global-mode-string) '(""))
                          '((:eval hive-mode-line-text)))))
  (hive-notify-start)
  (hive-work-guarded #'hive-outbox-open)
  (hive-sidecar-start))

(defun hive-mode--disable ()
  "Stop everything.  Answers that were not stored stay on the disk."
  (hive-sidecar-stop)
  (hive-notify-stop)
  (hive-outbox-close)
  (hive-feed-stop)
  (hive-model-forget)
  (remove-hook 'hive-sidecar-state-hook #'hive-changed)
  (remove-hook 'hive-connected-hook #'hive-mode--connected)
  (remove-hook 'kill-emacs-hook #'hive-sidecar-goodbye)
  (remove-function after-focus-change-function #'hive-mode--focus)
  (setq-default global-mode-string
                (delete '(:eval hive-mode-line-text) (default-value 'global-mode-string))))

;;;###autoload
(define-minor-mode hive-mode
  "Be reachable for your coding agents.
While this global mode is on, Emacs runs the Hive sidecar, the
mode line counts the questions that wait, and \\[hive-respond]
answers them.  Nothing that arrives takes your keys, your point or
your window."
  :global t
  :group 'hive
  (if hive-mode (hive-mode--enable) (hive-mode--disable)))

(provide 'hive-mode)
;;; hive-mode.el ends here
