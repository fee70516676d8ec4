;;; hive-prompt.el --- A question in full  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; A buffer that shows everything about one question: who asks and where, the
;; options with their descriptions, the context, its history, and the other
;; questions of its agent.  Text from agents is coloured, and inert as
;; everywhere else.

;;; Code:

(require 'button)
(require 'cl-lib)
(require 'hive-compose)
(require 'hive-human)
(require 'hive-display)
(require 'hive-messages)
(require 'hive-model)
(require 'hive-notify)
(require 'hive-read)
(require 'hive-respond)
(require 'hive-rpc)
(require 'hive-text)
(require 'subr-x)

;;;; The history of a question, in words

;; The event log has names for programs; these are the words for humans.

(defun hive-prompt--held-back (reason)
  "Return REASON, the name of why a popup was held back, in words."
  (pcase reason
    ("low_urgency" (hive-words 'held-back-low))
    ("notify_never" (hive-words 'held-back-never))
    ("focused" (hive-words 'held-back-focused))
    ("muted_project" (hive-words 'held-back-project))
    ("muted_agent" (hive-words 'held-back-agent))
    ("do_not_disturb" (hive-words 'held-back-do-not-disturb))
    ("quiet_hours" (hive-words 'held-back-hours))
    ("quiet_criticals" (hive-words 'held-back-criticals))
    ("settled" (hive-words 'held-back-settled))
    (_ (hive-text-line reason 40))))

(defun hive-prompt--popup (data)
  "Return the outcome of a popup, from the DATA of its event."
  (let ((outcome (hive-text-line (plist-get data :outcome) 20))
        (reason (plist-get data :reason)))
    (hive-words
     'event-popup (pcase outcome
                    ("sent" (hive-words 'event-popup-sent))
                    ("failed" (hive-words 'event-popup-failed))
                    ("suppressed" (hive-words 'event-popup-held-back))
                    ;; An outcome of a newer sidecar.
                    (_ outcome))
     (if (stringp reason)
         ;; If it was held back, the reason is a name; if it failed, a sentence.
         (concat ": " (if (equal outcome "suppressed")
                          (hive-prompt--held-back reason)
                        (hive-text-line reason 200)))
       ""))))

(defun hive-prompt--words (type data)
  "Return the words for an event of TYPE, with DATA."
  (let ((by (if (plist-get data :by) (hive-text-by data 40) (hive-words 'somebody)))
        (said (hive-text-line (or (plist-get data :decision) "") 80)))
    (pcase type
      ("prompt/created" (hive-words 'event-created))
      ("prompt/noted" (hive-words 'event-noted))
      ("prompt/offered" (hive-words 'event-offered))
      ("prompt/seen" (hive-words 'event-seen))
      ("prompt/claimed" (hive-words 'event-claimed by))
      ("prompt/released" (hive-words 'event-released by))
      ("prompt/responded" (hive-words 'event-responded by said))
      ("prompt/late_response" (hive-words 'event-late-response by said))
      ("prompt/lost_response" (hive-words 'event-lost-response by said))
      ("prompt/amended" (hive-words 'event-amended by said))
      ("prompt/expired" (hive-words 'event-expired))
      ("prompt/cancelled" (hive-words 'event-cancelled by))
      ("prompt/handed" (if (hive-rpc-true-p data :repeated)
                           (hive-words 'event-handed-again)
                         (hive-words 'event-handed)))
      ("prompt/collected" (hive-words 'event-collected))
      ("prompt/snoozed" (hive-words 'event-snoozed))
      ("prompt/escalated" (hive-words 'event-escalated))
      ("prompt/moved" (hive-words 'event-moved))
      ("prompt/orphaned" (if (hive-rpc-true-p data :orphaned)
                             (hive-words 'event-orphaned)
                           (hive-words 'event-adopted)))
      ("prompt/popup" (hive-prompt--popup data))
      ;; An event of a newer sidecar.
      (_ (hive-text-line type 40)))))

(defun hive-prompt-events-line (event)
  "Return EVENT, a plist from the sidecar, as a line with its local time."
  (let ((seconds (hive-text-seconds (plist-get event :at))))
    (format "%s  %s"
            (if seconds (format-time-string "%Y-%m-%d %H:%M:%S" seconds) "")
            (hive-prompt--words (plist-get event :type) (plist-get event :data)))))

(defconst hive-prompt--receipts
  '((:created_at . receipt-created) (:offered_at . receipt-offered) (:seen_at . receipt-seen)
    (:responded_at . receipt-responded) (:handed_at . receipt-handed)
    (:collected_at . receipt-collected))
  "The receipts of a question, in their order, and their names in `hive-messages'.")

(defun hive-prompt-events-receipts (prompt)
  "Return the receipts of PROMPT, each with its age, in one line."
  (mapconcat (lambda (receipt)
               (concat (hive-words (cdr receipt)) " "
                       (hive-words 'ago (hive-text-age (plist-get prompt (car receipt))))))
             (seq-filter (lambda (receipt) (plist-get prompt (car receipt)))
                         hive-prompt--receipts)
             " · "))

;;;; Faces and state

(defface hive-prompt-heading '((t :inherit (bold font-lock-keyword-face)))
  "Headings in the buffer of a question."
  :group 'hive)

(defface hive-prompt-code '((t :inherit (fixed-pitch font-lock-string-face)))
  "Code in the context of a question."
  :group 'hive)

(defvar-local hive-prompt--prompt nil "The question shown here, in full.")
(defvar-local hive-prompt--events nil "The events of the question, oldest first.")
(defvar-local hive-prompt--others nil "Other questions of the same agent.")

;;;; Printing

(defun hive-prompt--heading (text)
  "Insert TEXT as a heading."
  (insert "\n" (propertize text 'face 'hive-prompt-heading) "\n"))

(defun hive-prompt--insert-context (text)
  "Insert TEXT, Markdown from an agent, coloured and inert."
  (insert (hive-prompt--coloured (hive-text-inert text)) "\n"))

;; No other mode touches text from agents: `markdown-mode' calls whatever mode a
;; code block names, and hostile text keeps it busy for minutes.

(defconst hive-prompt--most-colours 1000
  "How many pieces of a text get a face; Emacs is slow with more.")

(defun hive-prompt--coloured (text)
  "Return TEXT with our faces for its Markdown and no other property."
  (with-temp-buffer
    (insert (substring-no-properties text))
    (hive-prompt--colour)
    (buffer-string)))

(defun hive-prompt--colour ()
  "Colour headings, code and code blocks of the Markdown in this buffer.
No text is passed twice: what a search has passed is coloured or left."
  (goto-char (point-min))
  (let ((left hive-prompt--most-colours))
    (cl-flet ((paint (from to face)
                (setq left (1- left))
                (put-text-property from to 'face face)))
      (while (and (> left 0) (not (eobp)))
        (let ((begin (point)) (end (line-end-position)))
          (cond
           ((looking-at "\\(?:```+\\|~~~+\\)")
            (unless (search-forward (concat "\n" (match-string 0)) nil t)
              (goto-char (point-max)))
            (paint begin (line-end-position) 'hive-prompt-code))
           ((looking-at "#+ ") (paint begin end 'hive-prompt-heading))
           (t (while (and (> left 0) (re-search-forward "`[^`\n]+`" end t))
                (paint (match-beginning 0) (match-end 0) 'hive-prompt-code)))))
        (end-of-line)
        (skip-chars-forward "\n")))))

(defun hive-prompt--insert-options (prompt)
  "Insert the options of PROMPT, as buttons while it is pending."
  (let ((number 0))
    (dolist (option (append (plist-get prompt :options) nil))
      (setq number (1+ number))
      (let ((label (plist-get option :label))
            (description (plist-get option :description)))
        (insert (if (<= number 9) (format " %d  " number) "    "))
        (if (hive-prompt-unanswered-p prompt)
            (insert-text-button (hive-text-line label)
                                'follow-link t
                                'help-echo (hive-words 'answer-with-option)
                                'action (lambda (_) (hive-prompt--send-label label)))
          (insert (hive-text-line label)))
        (when (member label (append (plist-get prompt :selected) nil)) (insert "  ✓"))
        (insert "\n")
        (when description
          (insert (replace-regexp-in-string "^" "      " (hive-text-inert description))
                  "\n"))))))

(defun hive-prompt--insert-answer (prompt)
  "Insert the answer to PROMPT, in time or late."
  (dolist (answer (delq nil (list (and (plist-get prompt :decision) prompt)
                                  (plist-get prompt :late_response))))
    (hive-prompt--heading (if (eq answer prompt) (hive-words 'heading-the-answer)
                            (hive-words 'heading-late-answer)))
    (insert (hive-text-inert (plist-get answer :decision)) "\n")
    (when (plist-get answer :comment)
      (insert (hive-text-inert (plist-get answer :comment)) "\n"))
    (insert (propertize (hive-words 'answer-by
                                    (hive-text-by answer 40)
                                    (hive-text-line (plist-get answer :via) 20)
                                    (hive-text-age (plist-get answer :responded_at)))
                        'face 'shadow))))

(defun hive-prompt--insert-receipts (prompt)
  "Insert the history of PROMPT."
  (hive-prompt--heading (hive-words 'heading-events))
  (insert (hive-prompt-events-receipts prompt) "\n")
  (dolist (event (append hive-prompt--events nil))
    (insert (propertize (format "  %s\n" (hive-prompt-events-line event)) 'face 'shadow))))

(defun hive-prompt--insert-others ()
  "Insert the other questions of this agent."
  (when hive-prompt--others
    (hive-prompt--heading (hive-words 'heading-others))
    (dolist (other hive-prompt--others)
      (insert "  ")
      (insert-text-button (hive-text-line (plist-get other :question) 80)
                          'follow-link t
                          'action (lambda (_) (hive-prompt-show other)))
      (insert (propertize (concat "  " (hive-text-line (plist-get other :status) 20) ", "
                                  (hive-words 'ago (hive-text-age (plist-get other :created_at)))
                                  "\n")
                          'face 'shadow)))))

(defun hive-prompt--print-options (prompt)
  "Insert the options of PROMPT under a heading, if it has any."
  (when (append (plist-get prompt :options) nil) ; an empty vector is not nil
    (hive-prompt--heading (hive-words 'heading-options))
    (hive-prompt--insert-options prompt)))

(defun hive-prompt--print-context (prompt)
  "Insert the context of PROMPT under a heading, if it has one."
  (when (plist-get prompt :context)
    (hive-prompt--heading (hive-words 'heading-context))
    (hive-prompt--insert-context (plist-get prompt :context)))
  (when (hive-rpc-true-p prompt :context_truncated)
    (insert (hive-words 'context-loading))))

(defun hive-prompt--print ()
  "Print the question; point stays where it is."
  (let* ((prompt hive-prompt--prompt)
         (inhibit-read-only t)
         (line (line-number-at-pos)) (column (current-column)) begin)
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
                          (when (and (hive-prompt-pending-p prompt)
                                     (plist-get prompt :expires_at))
                            (hive-words 'expires-in
                                        (hive-text-until (plist-get prompt :expires_at))))
                          (when (hive-rpc-true-p prompt :orphaned) (hive-words 'session-ended))))
              " · ")
             'face 'shadow)
            "\n\n")
    (setq begin (point))
    (insert (hive-text-inert (plist-get prompt :question)) "\n")
    (dolist (note (hive-read-notes prompt)) (insert "\n" note "\n"))
    ;; What a permission is about comes first; below it is what a key allows.
    (if (hive-permission-p prompt)
        (progn (hive-prompt--print-context prompt)
               (hive-prompt--print-options prompt)
               (hive-display-track prompt begin (point)))
      (hive-prompt--print-options prompt)
      (hive-prompt--print-context prompt))
    (hive-prompt--insert-answer prompt)
    (hive-prompt--insert-receipts prompt)
    (hive-prompt--insert-others)
    (hive-wrap-like-lines (point-min) (point-max))
    (set-buffer-modified-p nil)
    (goto-char (point-min))
    (forward-line (1- line))
    (move-to-column column)))

;;;; The mode

(declare-function hive-next "hive-next")

(defvar hive-prompt-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map (make-composed-keymap button-buffer-map special-mode-map))
    (define-key map (kbd "a") #'hive-prompt-answer)
    ;; On a button, the keymap of the button is first.
    (define-key map (kbd "RET") #'hive-prompt-answer)
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
\\<hive-prompt-mode-map>1 to 9 answer with an option; \\`RET' or \\`a' answers in the minibuffer, \\[hive-prompt-compose] in
a buffer of its own; \\[hive-prompt-cancel] cancels, \\[hive-prompt-snooze] snoozes, \\[hive-next] goes on to
the next question.
\\{hive-prompt-mode-map}"
  (hive-wrap-words)
  (setq-local revert-buffer-function #'hive-prompt--revert)
  (setq bidi-paragraph-direction 'left-to-right)
  (add-hook 'hive-changed-hook #'hive-prompt--look))

;;;; Updating

(defun hive-prompt--look ()
  "Update the buffers of questions that changed."
  (dolist (buffer (buffer-list))
    (when (eq (buffer-local-value 'major-mode buffer) 'hive-prompt-mode)
      (with-current-buffer buffer
        (let* ((shown hive-prompt--prompt)
               (now (hive-model-prompt (plist-get shown :ask_id))))
          (when (and now (cl-some (lambda (key) (not (equal (plist-get now key) (plist-get shown key))))
                                  '(:status :notes)))
            (hive-prompt--fetch buffer)))))))

(defun hive-prompt--fetch (buffer)
  "Fetch the question of BUFFER, and print it when it has arrived."
  (let* ((prompt (buffer-local-value 'hive-prompt--prompt buffer))
         (id (plist-get prompt :ask_id)))
    (hive-rpc-request
     'prompt/get (list :ask_id id)
     :success (lambda (result)
                (hive-prompt--take buffer :prompt (plist-get result :prompt)
                                   :events (plist-get result :events)))
     :error (lambda (err)
              (hive-announce 'prompt-fetch-failed (hive-text-line (plist-get err :text) 200))))
    (hive-rpc-request
     'prompt/list (list :agent (plist-get prompt :agent) :limit 20)
     :success (lambda (result)
                (hive-prompt--take
                 buffer :others
                 (cl-remove id (append (plist-get result :prompts) nil) :test #'equal
                            :key (lambda (other) (plist-get other :ask_id)))))
     :error #'ignore)))

(cl-defun hive-prompt--take (buffer &key prompt events (others nil others-p))
  "Show PROMPT and EVENTS, or OTHERS, in BUFFER if it is live."
  (when (buffer-live-p buffer)
    (with-current-buffer buffer
      (when prompt (setq hive-prompt--prompt prompt hive-prompt--events events))
      (when others-p (setq hive-prompt--others others))
      (hive-prompt--print))))

(defun hive-prompt--revert (&rest _)
  "Fetch the question again."
  (hive-prompt--fetch (current-buffer)))

;;;; Commands

(defun hive-prompt-buffer (prompt)
  "Return the buffer of PROMPT; details are added when they arrive."
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
  (hive-respond-seen prompt)
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
  (when (y-or-n-p (hive-words 'cancel-this?)) (hive-cancel-prompt hive-prompt--prompt)))

(defun hive-prompt-snooze ()
  "Snooze or un-snooze the question of this buffer."
  (interactive nil hive-prompt-mode)
  (when (hive-snooze-prompt hive-prompt--prompt) (quit-window)))

(defun hive-prompt-choose ()
  "Answer with the option whose number was pressed."
  (interactive nil hive-prompt-mode)
  (let* ((number (- last-command-event ?0))
         (option (nth (1- number) (append (plist-get hive-prompt--prompt :options) nil))))
    (unless option (hive-fail 'prompt-no-option number))
    (hive-prompt--send-label (plist-get option :label))))

(defun hive-prompt--send-label (label)
  "Answer the question of this buffer with the option LABEL."
  (unless (hive-prompt-unanswered-p hive-prompt--prompt)
    (hive-fail 'prompt-closed))
  (when (and (hive-permission-confirmed-p hive-prompt--prompt label)
             (not (y-or-n-p (hive-words 'permission? (hive-text-line label 60)))))
    (hive-fail 'no-answer (hive-respond-still hive-prompt--prompt)))
  ;; With the claim it is known that the notes shown here were read.
  (hive-respond-claim hive-prompt--prompt)
  (hive-respond-send hive-prompt--prompt (list :decision label :selected (vector label))))

(cl-defmethod hive-rpc-notify ((_method (eql 'desk/open_prompt)) params)
  "Show the question in PARAMS, whose popup the human clicked."
  (let ((prompt (hive-model-prompt (plist-get params :ask_id))))
    (when prompt
      ;; Do not select it: keys in flight belong to another window.
      (display-buffer (hive-prompt-buffer prompt)))))

(provide 'hive-prompt)
;;; hive-prompt.el ends here
