;;; hive-prompt-print.el --- How one question is printed in full  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; What stands in the buffer of a question: who asks, the question, its
;; options, its context, its answer, what happened to it, and what else its
;; agent has asked.  Text of agents is coloured, and inert.

;;; Code:

(require 'button)
(require 'hive-human)
(require 'hive-model)
(require 'hive-prompt-events)
(require 'hive-rpc)
(require 'hive-text)
(require 'hive-wrap)
(require 'subr-x)

(declare-function hive-prompt-show "hive-prompt")
(declare-function hive-prompt--send-label "hive-prompt")
(declare-function markdown-mode "ext:markdown-mode")

(defface hive-prompt-heading '((t :inherit (bold font-lock-keyword-face)))
  "Headings in the buffer of a question."
  :group 'hive)

(defface hive-prompt-code '((t :inherit (fixed-pitch font-lock-string-face)))
  "Code in the context of a question."
  :group 'hive)

(defvar-local hive-prompt--prompt nil "The question shown here, in full.")
(defvar-local hive-prompt--events nil "What happened to it, oldest first.")
(defvar-local hive-prompt--others nil "Other questions of the same agent.")

(defun hive-prompt--heading (text)
  "Insert TEXT as a heading."
  (insert "\n" (propertize text 'face 'hive-prompt-heading) "\n"))

(defun hive-prompt--insert-context (text)
  "Insert TEXT, Markdown of an agent, coloured and inert."
  (insert (hive-prompt--coloured (hive-text-inert text)) "\n"))

(defun hive-prompt--coloured (text)
  "Return TEXT with the faces of Markdown and no other property."
  (with-temp-buffer
    (insert text)
    (if (and (fboundp 'markdown-mode) (< (length text) 65536))
        (ignore-errors
          (delay-mode-hooks (markdown-mode))
          (font-lock-ensure))
      (hive-prompt--colour-plainly))
    ;; Whatever a mode would hide, link or run stays behind: faces only.
    (let ((coloured (buffer-substring-no-properties (point-min) (point-max)))
          (position (point-min)))
      (while (< position (point-max))
        (let ((next (next-single-property-change position 'face nil (point-max)))
              (face (get-text-property position 'face)))
          (when face
            (put-text-property (1- position) (1- next) 'face face coloured))
          (setq position next)))
      coloured)))

(defun hive-prompt--colour-plainly ()
  "Colour headings, code and code blocks of the Markdown in this buffer."
  (goto-char (point-min))
  (while (re-search-forward "^#+ .*$" nil t)
    (put-text-property (match-beginning 0) (match-end 0) 'face 'hive-prompt-heading))
  (goto-char (point-min))
  (while (re-search-forward "`[^`\n]+`" nil t)
    (put-text-property (match-beginning 0) (match-end 0) 'face 'hive-prompt-code))
  (goto-char (point-min))
  (while (re-search-forward "^\\(```+\\|~~~+\\)" nil t)
    (let ((begin (line-beginning-position)) (fence (match-string 1)))
      (forward-line 1)
      (unless (search-forward (concat "\n" fence) nil t) (goto-char (point-max)))
      (put-text-property begin (line-end-position) 'face 'hive-prompt-code))))

(defun hive-prompt--insert-options (prompt)
  "Insert the options of PROMPT, each a button while it waits."
  (let ((number 0))
    (dolist (option (append (plist-get prompt :options) nil))
      (setq number (1+ number))
      (let ((label (plist-get option :label))
            (description (plist-get option :description)))
        (insert (if (<= number 9) (format " %d  " number) "    "))
        (if (hive-prompt-waiting-p prompt)
            (insert-text-button (hive-text-line label)
                                'follow-link t
                                'help-echo "answer with this"
                                'action (lambda (_) (hive-prompt--send-label label)))
          (insert (hive-text-line label)))
        (when (member label (append (plist-get prompt :selected) nil)) (insert "  ✓"))
        (insert "\n")
        (when description
          (insert (replace-regexp-in-string "^" "      " (hive-text-inert description))
                  "\n"))))))

(defun hive-prompt--insert-answer (prompt)
  "Insert what was answered to PROMPT, in time or late."
  (dolist (answer (delq nil (list (and (plist-get prompt :decision) prompt)
                                  (plist-get prompt :late_response))))
    (hive-prompt--heading (if (eq answer prompt) "Answer" "Late answer"))
    (insert (hive-text-inert (plist-get answer :decision)) "\n")
    (when (plist-get answer :comment)
      (insert (hive-text-inert (plist-get answer :comment)) "\n"))
    (insert (propertize (format "by %s via %s, %s ago\n"
                                (hive-text-line (plist-get answer :by) 40)
                                (hive-text-line (plist-get answer :via) 20)
                                (hive-text-age (plist-get answer :responded_at)))
                        'face 'shadow))))

(defun hive-prompt--insert-receipts (prompt)
  "Insert what happened to PROMPT, and when."
  (hive-prompt--heading "What happened")
  (insert (hive-prompt-events-receipts prompt) "\n")
  (dolist (event (append hive-prompt--events nil))
    (insert (propertize (format "  %s\n" (hive-prompt-events-line event)) 'face 'shadow))))

(defun hive-prompt--insert-others ()
  "Insert the other questions of this agent."
  (when hive-prompt--others
    (hive-prompt--heading "From the same agent")
    (dolist (other hive-prompt--others)
      (insert "  ")
      (insert-text-button (hive-text-line (plist-get other :question) 80)
                          'follow-link t
                          'action (lambda (_) (hive-prompt-show other)))
      (insert (propertize (format "  %s, %s ago\n"
                                  (hive-text-line (plist-get other :status) 20)
                                  (hive-text-age (plist-get other :created_at)))
                          'face 'shadow)))))

(defun hive-prompt--print ()
  "Print the question anew, and leave point where it is."
  (let* ((prompt hive-prompt--prompt)
         (inhibit-read-only t)
         (line (line-number-at-pos)) (column (current-column)))
    (erase-buffer)
    (insert (propertize
             (string-join
              (delq nil
                    (list (hive-text-line (plist-get prompt :agent) 40)
                          (hive-text-source prompt)
                          (hive-text-line (plist-get prompt :project) 40)
                          (hive-text-line (plist-get prompt :kind) 20)
                          (hive-text-line (plist-get prompt :urgency) 20)
                          (hive-text-line (plist-get prompt :status) 20)
                          (let ((note (string-trim (hive-human-note prompt))))
                            (unless (string-empty-p note) note))
                          (when (plist-get prompt :expires_at)
                            (concat "expires in "
                                    (hive-text-until (plist-get prompt :expires_at))))
                          (when (hive-rpc-true-p prompt :orphaned) "its session is gone")))
              " · ")
             'face 'shadow)
            "\n\n" (hive-text-inert (plist-get prompt :question)) "\n")
    (when (append (plist-get prompt :options) nil) ; an empty vector is not nil
      (hive-prompt--heading "Options")
      (hive-prompt--insert-options prompt))
    (when (plist-get prompt :context)
      (hive-prompt--heading "Context")
      (hive-prompt--insert-context (plist-get prompt :context)))
    (hive-prompt--insert-answer prompt)
    (hive-prompt--insert-receipts prompt)
    (hive-prompt--insert-others)
    (hive-wrap-like-lines (point-min) (point-max))
    (set-buffer-modified-p nil)
    (goto-char (point-min))
    (forward-line (1- line))
    (move-to-column column)))

(provide 'hive-prompt-print)
;;; hive-prompt-print.el ends here
