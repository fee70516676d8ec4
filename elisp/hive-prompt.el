;;; hive-prompt.el --- One question in full  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; A buffer that shows all there is about one question: who asks, where,
;; the context, every option with its description, what became of it so far
;; and what else its agent has asked.  Text of agents is inert here as
;; everywhere; it is coloured, never obeyed.

;;; Code:

(require 'button)
(require 'cl-lib)
(require 'hive-compose)
(require 'hive-model)
(require 'hive-notify)
(require 'hive-respond)
(require 'hive-rpc)
(require 'hive-snooze)
(require 'hive-text)
(require 'subr-x)

(declare-function hive-next "hive-next")
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

(defvar hive-prompt-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map (make-composed-keymap button-buffer-map special-mode-map))
    (define-key map (kbd "a") #'hive-prompt-answer)
    (define-key map (kbd "e") #'hive-prompt-compose)
    (define-key map (kbd "c") #'hive-prompt-cancel)
    (define-key map (kbd "s") #'hive-prompt-snooze)
    (define-key map (kbd "n") #'hive-next)
    (dotimes (n 9)
      (define-key map (number-to-string (1+ n)) #'hive-prompt-choose))
    map)
  "Keymap of `hive-prompt-mode'.")

(define-derived-mode hive-prompt-mode special-mode "Hive-Question"
  "Major mode of the buffer that shows one question in full.
\\<hive-prompt-mode-map>1 to 9 answer with an option; \\[hive-prompt-answer] answers in the minibuffer, \\[hive-prompt-compose] in
a buffer of its own; \\[hive-prompt-cancel] cancels, \\[hive-prompt-snooze] puts away, \\[hive-next] goes on to
the next question."
  (setq-local revert-buffer-function #'hive-prompt--revert)
  (setq bidi-paragraph-direction 'left-to-right)
  (add-hook 'hive-changed-hook #'hive-prompt--look))

;;;; Contents

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

(defconst hive-prompt--receipts
  '((:created_at . "asked") (:offered_at . "offered") (:seen_at . "seen")
    (:responded_at . "answered") (:handed_at . "handed") (:collected_at . "collected"))
  "The receipts of a question, in their order.")

(defun hive-prompt--insert-receipts (prompt)
  "Insert what happened to PROMPT, and when."
  (hive-prompt--heading "What happened")
  (insert (mapconcat (lambda (receipt)
                       (let ((time (plist-get prompt (car receipt))))
                         (if time
                             (format "%s %s ago" (cdr receipt) (hive-text-age time))
                           (propertize (cdr receipt) 'face 'shadow))))
                     hive-prompt--receipts " · ")
          "\n")
  (dolist (event (append hive-prompt--events nil))
    (insert (propertize (format "  %s  %s\n"
                                (hive-text-line (plist-get event :at) 30)
                                (hive-text-line (plist-get event :type) 40))
                        'face 'shadow))))

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
                          (unless (equal (plist-get prompt :source) "main")
                            (hive-text-line (plist-get prompt :source) 6))
                          (hive-text-line (plist-get prompt :project) 40)
                          (hive-text-line (plist-get prompt :kind) 20)
                          (hive-text-line (plist-get prompt :urgency) 20)
                          (hive-text-line (plist-get prompt :status) 20)
                          (let ((note (string-trim (hive-human-note prompt))))
                            (unless (string-empty-p note) note))
                          (when (plist-get prompt :expires_at)
                            (concat "expires in "
                                    (hive-text-until (plist-get prompt :expires_at))))
                          (when (hive-prompt-flag prompt :orphaned) "its session is gone")))
              " · ")
             'face 'shadow)
            "\n\n" (hive-text-inert (plist-get prompt :question)) "\n")
    (when (plist-get prompt :options)
      (hive-prompt--heading "Options")
      (hive-prompt--insert-options prompt))
    (when (plist-get prompt :context)
      (hive-prompt--heading "Context")
      (hive-prompt--insert-context (plist-get prompt :context)))
    (hive-prompt--insert-answer prompt)
    (hive-prompt--insert-receipts prompt)
    (hive-prompt--insert-others)
    (set-buffer-modified-p nil)
    (goto-char (point-min))
    (forward-line (1- line))
    (move-to-column column)))

;;;; Following what happens

(defun hive-prompt--look ()
  "Bring buffers of questions that changed up to date."
  (dolist (buffer (buffer-list))
    (when (eq (buffer-local-value 'major-mode buffer) 'hive-prompt-mode)
      (with-current-buffer buffer
        (let* ((shown hive-prompt--prompt)
               (now (hive-model-get 'prompt (plist-get shown :ask_id))))
          (when (and now (not (equal (plist-get now :status) (plist-get shown :status))))
            (hive-prompt--fetch buffer)))))))

(defun hive-prompt--fetch (buffer)
  "Fetch the question of BUFFER, and print it when it is here."
  (let* ((prompt (buffer-local-value 'hive-prompt--prompt buffer))
         (id (plist-get prompt :ask_id)))
    (hive-rpc-request
     'prompt/get (list :ask_id id)
     :success (lambda (result)
                (hive-prompt--take buffer :prompt (plist-get result :prompt)
                                   :events (plist-get result :events)))
     :error (lambda (err)
              (hive-notify-say "Hive could not fetch the question: %s"
                               (hive-text-line (plist-get err :text) 200))))
    (hive-rpc-request
     'prompt/list (list :agent (plist-get prompt :agent) :limit 20)
     :success (lambda (result)
                (hive-prompt--take
                 buffer :others
                 (cl-remove id (append (plist-get result :prompts) nil) :test #'equal
                            :key (lambda (other) (plist-get other :ask_id)))))
     :error #'ignore)))

(cl-defun hive-prompt--take (buffer &key prompt events (others nil others-p))
  "Show PROMPT and EVENTS, or OTHERS, in BUFFER if it is still there."
  (when (buffer-live-p buffer)
    (with-current-buffer buffer
      (when prompt (setq hive-prompt--prompt prompt hive-prompt--events events))
      (when others-p (setq hive-prompt--others others))
      (hive-prompt--print))))

(defun hive-prompt--revert (&rest _)
  "Fetch the question anew."
  (hive-prompt--fetch (current-buffer)))

;;;; Commands

(defun hive-prompt-buffer (prompt)
  "Return the buffer of PROMPT; the rest is filled in when it is here."
  (let ((buffer (get-buffer-create (format "*hive question: %s*" (plist-get prompt :ask_id)))))
    (with-current-buffer buffer
      (unless (derived-mode-p 'hive-prompt-mode) (hive-prompt-mode))
      (setq hive-prompt--prompt prompt)
      (hive-prompt--print)
      (goto-char (point-min)))
    (hive-prompt--fetch buffer)
    buffer))

(defun hive-prompt-show (prompt)
  "Show PROMPT in full."
  (hive-respond--seen prompt)
  (pop-to-buffer (hive-prompt-buffer prompt)))

(defun hive-prompt-answer ()
  "Answer the question of this buffer in the minibuffer."
  (interactive nil hive-prompt-mode)
  (hive-answer-prompt hive-prompt--prompt current-prefix-arg))

(defun hive-prompt-compose ()
  "Answer the question of this buffer in a buffer of its own."
  (interactive nil hive-prompt-mode)
  (hive-compose hive-prompt--prompt))

(defun hive-prompt-cancel ()
  "Cancel the question of this buffer: its agent gets no answer."
  (interactive nil hive-prompt-mode)
  (when (y-or-n-p "Cancel this question? ") (hive-cancel-prompt hive-prompt--prompt)))

(defun hive-prompt-snooze ()
  "Put the question of this buffer away for a while."
  (interactive nil hive-prompt-mode)
  (hive-snooze-prompt hive-prompt--prompt)
  (quit-window))

(defun hive-prompt-choose ()
  "Answer with the option whose number was pressed."
  (interactive nil hive-prompt-mode)
  (let* ((number (- last-command-event ?0))
         (option (nth (1- number) (append (plist-get hive-prompt--prompt :options) nil))))
    (unless option (user-error "This question has no option %d" number))
    (hive-prompt--send-label (plist-get option :label))))

(defun hive-prompt--send-label (label)
  "Answer the question of this buffer with the option LABEL."
  (unless (hive-prompt-waiting-p hive-prompt--prompt)
    (user-error "This question no longer waits"))
  (hive-respond--send hive-prompt--prompt (list :decision label :selected (vector label))))

(cl-defmethod hive-rpc-notify ((_method (eql 'desk/open_prompt)) params)
  "Show the question of PARAMS, whose popup the human clicked."
  (let ((prompt (hive-model-get 'prompt (plist-get params :ask_id))))
    (when prompt
      ;; Shown, not selected: keys on their way belong to what they were typed for.
      (display-buffer (hive-prompt-buffer prompt)))))

(provide 'hive-prompt)
;;; hive-prompt.el ends here
