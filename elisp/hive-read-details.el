;;; hive-read-details.el --- What a minibuffer is too small for  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; While a question is answered in the minibuffer, a buffer beside it shows
;; what is too long for that: the whole question, and its context.

;;; Code:

(require 'hive-rpc)
(require 'hive-text)
(require 'hive-wrap)

(defconst hive-read-details--buffer "*hive question*"
  "The name of the buffer that shows a question while it is answered.")

(defun hive-read-with-details (prompt read)
  "Call READ while what a minibuffer is too small for is shown of PROMPT."
  (let ((question (plist-get prompt :question))
        (buffer nil))
    (unwind-protect
        (progn
          (when (or (plist-get prompt :context) (> (length question) 200)
                    (string-search "\n" question))
            (setq buffer (get-buffer-create hive-read-details--buffer))
            (hive-read-details--show prompt buffer)
            (display-buffer buffer '((display-buffer-below-selected
                                      display-buffer-pop-up-window)
                                     (window-height . fit-window-to-buffer)))
            (when (hive-rpc-true-p prompt :context_truncated)
              (hive-read-details--fetch prompt buffer)))
          (funcall read))
      (when (buffer-live-p buffer)
        (let ((window (get-buffer-window buffer)))
          (if window (quit-window t window) (kill-buffer buffer)))))))

(defun hive-read-details--show (prompt buffer)
  "Let BUFFER show the question and the context of PROMPT."
  (with-current-buffer buffer
    (let ((inhibit-read-only t) (place (point)))
      (unless (derived-mode-p 'special-mode)
        (special-mode)
        (visual-line-mode))
      (erase-buffer)
      (insert (hive-text-inert (plist-get prompt :question)) "\n")
      (let ((context (plist-get prompt :context)))
        (when context (insert "\n" (hive-text-inert context) "\n")))
      (when (hive-rpc-true-p prompt :context_truncated)
        (insert "… (the rest is being fetched)\n"))
      (hive-wrap-heed (point-min) (point-max))
      (goto-char (min place (point-max))))))

(defun hive-read-details--fetch (prompt buffer)
  "Fetch the whole context of PROMPT, to be shown in BUFFER."
  (hive-rpc-request
   'prompt/get (list :ask_id (plist-get prompt :ask_id))
   :success (lambda (result)
              (when (buffer-live-p buffer)
                (hive-read-details--show (plist-get result :prompt) buffer)))))

(provide 'hive-read-details)
;;; hive-read-details.el ends here
