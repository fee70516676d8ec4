;;; hive-prompt.el --- A question in full  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A buffer that shows everything about one question: who asks and where, the
;; options with their descriptions, the context, its history, and the other
;; questions of its agent.  Text from agents is coloured, and inert as
;; everywhere else.

;;; Code:

(require 'button)
(require 'cl-lib)
(require 'hive-amend)
(require 'hive-compose)
(require 'hive-diff)
(require 'hive-display)
(require 'hive-human)
(require 'hive-interrupt)
(require 'hive-links)
(require 'hive-markdown)
(require 'hive-messages)
(require 'hive-model)
(require 'hive-notify)
(require 'hive-read)
(require 'hive-respond)
(require 'hive-rpc)
(require 'hive-rules)
(require 'hive-terminal)
(require 'hive-text)
(require 'seq)
(require 'subr-x)

;;;; The history of a question, in words

;; The event log has names for programs; these are the words for humans.

(defun hive-prompt--popup (data)
  "Return the outcome of a popup, from the DATA of its event."
  (let ((outcome (hive-text-line (plist-get data :outcome) 20))
        (reason (plist-get data :reason)))
    (hive-words "popup %s%s" (pcase outcome
                               ("sent" (hive-words "sent"))
                               ("failed" (hive-words "failed"))
                               ("suppressed" (hive-words "not shown"))
                               ;; An outcome of a newer sidecar.
                               (_ outcome))
                (if (stringp reason)
                    ;; If it was suppressed, the reason is a name; if it failed, a sentence.
                    (concat ": " (if (equal outcome "suppressed")
                                     (hive-text-value reason 60)
                                   (hive-text-line reason 200)))
                  ""))))

(defun hive-prompt--words (type data)
  "Return the words for an event of TYPE, with DATA."
  (let ((by (if (plist-get data :by) (hive-text-by data 40) (hive-words "somebody")))
        (said (hive-text-line (or (plist-get data :decision) "") 80)))
    (pcase type
      ("prompt/created" (hive-words "asked"))
      ("prompt/noted" (hive-words "the agent added a note"))
      ("prompt/offered" (hive-words "shown at a desk"))
      ("prompt/seen" (hive-words "seen"))
      ("prompt/claimed" (hive-words "%s began to answer" by))
      ("prompt/released" (hive-words "%s stopped answering" by))
      ("prompt/responded" (hive-words "answered by %s: %s" by said))
      ("prompt/late_response" (hive-words "answered late by %s: %s" by said))
      ("prompt/lost_response" (hive-words "a second answer, by %s, was not accepted: %s" by said))
      ("prompt/amended" (hive-words "answer corrected by %s: %s" by said))
      ("prompt/expired" (hive-words "expired"))
      ("prompt/cancelled" (hive-words 'event-cancelled by))
      ("prompt/handed" (if (hive-rpc-true-p data :repeated)
                           (hive-words "answer delivered to the agent again")
                         (hive-words "answer delivered to the agent")))
      ("prompt/collected" (hive-words "answer collected by the agent"))
      ("prompt/snoozed" (hive-words "snooze changed"))
      ("prompt/escalated" (hive-words "escalated: now for everybody"))
      ("prompt/moved" (hive-words "moved to the agent's next session"))
      ("prompt/orphaned" (if (hive-rpc-true-p data :orphaned)
                             (hive-words "its session ended")
                           (hive-words "its session resumed")))
      ("prompt/blocked" (hive-words "blocks its agent"))
      ("prompt/unblocked" (hive-words "its agent continues without the answer"))
      ("prompt/left_to_terminal" (if (plist-get data :terminal_since)
                                     (hive-words "can only be answered in its terminal")
                                   (hive-words "can be answered here again")))
      ("prompt/left_to_human" (hive-words "%s left it to you" by))
      ("prompt/expiring" (hive-words "about to expire"))
      ("prompt/popup" (hive-prompt--popup data))
      ;; An event of a newer sidecar.
      (_ (hive-text-line type 40)))))

(defconst hive-prompt--receipts
  '((:created_at . "asked") (:offered_at . "shown at a desk") (:seen_at . "seen")
    (:responded_at . "answered") (:handed_at . "delivered to the agent")
    (:collected_at . "collected by the agent"))
  "The receipts of a question, in their order, and their words.")

(defun hive-prompt-events-receipts (prompt)
  "Return the receipts of PROMPT, each with its age, in one line."
  (mapconcat (lambda (receipt)
               (concat (hive-words (cdr receipt)) " "
                       (hive-words 'ago (hive-text-age (plist-get prompt (car receipt))))))
             (seq-filter (lambda (receipt) (plist-get prompt (car receipt)))
                         hive-prompt--receipts)
             (hive-mark " · ")))

;;;; State

(defvar-local hive-prompt--prompt nil "The question shown here, in full.")
(defvar-local hive-prompt--events nil "The events of the question, oldest first.")
(defvar-local hive-prompt--changed nil "The files that were written since they were shown as diffs.")
(defvar-local hive-prompt--others nil "Other questions of the same agent.")

;;;; Printing

(defun hive-prompt--heading (text)
  "Insert TEXT as a heading."
  (insert "\n" (propertize text 'face 'hive-prompt-heading) "\n"))

(defun hive-prompt--insert-context (prompt)
  "Insert the context of PROMPT, Markdown from an agent, coloured and inert.
Tables are aligned, but not in a permission, whose text is shown exactly."
  (let ((begin (point))
        (room (unless (hive-permission-p prompt) (min 79 (or (hive-wrap-room) 79)))))
    (hive-markdown-insert (hive-text-inert (plist-get prompt :context)) room)
    (insert "\n")
    (hive-diff-activate begin (point))
    (unless (hive-permission-p prompt) (hive-fold-set-up begin (point)))))

(defun hive-prompt--insert-options (prompt)
  "Insert the options of PROMPT, as buttons while it is pending."
  (let ((number 0))
    (dolist (option (append (plist-get prompt :options) nil))
      (setq number (1+ number))
      (let ((label (plist-get option :label))
            (description (plist-get option :description)))
        (hive-text-part (cons 'option label)
          (insert (if (<= number 9) (format " %d  " number) "    "))
          (if (hive-prompt-unanswered-p prompt)
              (insert-text-button (hive-text-line label)
                                  'follow-link t
                                  'help-echo (hive-words "Answer with this option")
                                  'action (lambda (_) (hive-prompt--send-label label)))
            (insert (hive-text-line label)))
          (when (member label (append (plist-get prompt :selected) nil)) (insert (hive-mark "  ✓")))
          (insert "\n")
          (when description
            (insert (replace-regexp-in-string "^" "      " (hive-text-inert description))
                    "\n")))))))

(defun hive-prompt--insert-answer (prompt)
  "Insert the answer to PROMPT, in time or late."
  (dolist (answer (delq nil (list (and (plist-get prompt :decision) prompt)
                                  (plist-get prompt :late_response))))
    (hive-prompt--heading (if (eq answer prompt) (hive-words "Answer")
                            (hive-words "Late answer")))
    (insert (hive-text-inert (plist-get answer :decision)) "\n")
    (when (plist-get answer :comment)
      (insert (hive-text-inert (plist-get answer :comment)) "\n"))
    (insert (propertize (hive-words "by %s via %s, %s ago\n"
                                    (hive-text-by answer 40)
                                    (hive-text-value (plist-get answer :via) 20)
                                    (hive-text-age (plist-get answer :responded_at)))
                        'face 'hive-shadow))))

(defun hive-prompt--insert-receipts (prompt)
  "Insert the history of PROMPT."
  (hive-prompt--heading (hive-words "What happened"))
  (insert (hive-prompt-events-receipts prompt) "\n")
  (pcase-dolist (`(,event . ,count) (hive-prompt--folded hive-prompt--events))
    (insert (propertize (format "  %s  %s%s\n"
                                (hive-text-local (plist-get event :at) "%F %T")
                                (hive-prompt--words (plist-get event :type) (plist-get event :data))
                                (if (> count 1) (hive-words "  ×%d" count) ""))
                        'face 'hive-shadow))))

(defun hive-prompt--folded (events)
  "Return EVENTS as a list of conses: an event, and how often it happened.
Events with the same words are one, at the place and time of the first."
  (let ((counts (make-hash-table :test #'equal)) folded)
    (seq-doseq (event events)
      (let* ((words (hive-prompt--words (plist-get event :type) (plist-get event :data)))
             (known (gethash words counts)))
        (if known (setcdr known (1+ (cdr known)))
          (push (puthash words (cons event 1) counts) folded))))
    (nreverse folded)))

(defun hive-prompt--insert-said (prompt)
  "Insert what the agent of PROMPT said last, while it waits for the answer.
It is below what a permission displays: nothing of it is allowed."
  (when-let* ((said (and (hive-prompt-unanswered-p prompt)
                         (hive-turns-said (plist-get prompt :session_id)))))
    (hive-prompt--heading (hive-words "Its last words"))
    (hive-markdown-insert (hive-text-inert said) (min 79 (or (hive-wrap-room) 79)))
    (insert "\n")))

(defun hive-prompt--insert-others ()
  "Insert the other questions of this agent."
  (when hive-prompt--others
    (hive-text-part 'others (hive-prompt--heading (hive-words "From the same agent")))
    (dolist (other hive-prompt--others)
      (hive-text-part (cons 'other (plist-get other :ask_id))
        (insert "  ")
        (insert-text-button (hive-text-line (plist-get other :question) 80)
                            'follow-link t
                            'action (lambda (_) (hive-prompt-show other)))
        (insert (propertize (concat "  " (hive-text-value (plist-get other :status) 20) ", "
                                    (hive-words 'ago (hive-text-age (plist-get other :created_at)))
                                    "\n")
                            'face 'hive-shadow))))))

(defun hive-prompt--print-options (prompt)
  "Insert the options of PROMPT under a heading, if it has any."
  (when (append (plist-get prompt :options) nil) ; an empty vector is not nil
    (hive-text-part 'options (hive-prompt--heading (hive-words "Options")))
    (hive-prompt--insert-options prompt)))

(defun hive-prompt--directory (prompt)
  "Return the directory in which the agent of PROMPT works, or nil."
  (let* ((context (and (hive-rpc-true-p prompt :dialog) (plist-get prompt :context)))
         (start (and context (string-match "^Directory: \\(/.*\\)$" context)))
         (directory (if start (match-string 1 context)
                      (replace-regexp-in-string "/\\.git/?\\'" "" (or (plist-get prompt :project_dir) "")))))
    (and (file-name-absolute-p directory) (not (file-remote-p directory))
         (file-name-as-directory directory))))

(defun hive-prompt--print-context (prompt)
  "Insert the context of PROMPT under a heading, if it has one."
  (hive-text-part 'context
    (when (plist-get prompt :context)
      (hive-prompt--heading (hive-words "Context"))
      (setq hive-diff-directory (hive-prompt--directory prompt))
      (hive-prompt--insert-context prompt))
    (when (hive-rpc-true-p prompt :context_truncated)
      (insert (hive-words 'context-loading)))))

(defun hive-prompt--print ()
  "Print the question; positions stay where they are, as of `hive-text-reprint'."
  (hive-text-reprint #'hive-prompt--insert)
  (set-buffer-modified-p nil))

(defun hive-prompt--insert ()
  "Insert the question with all that belongs to it."
  (let ((prompt hive-prompt--prompt) begin)
    (hive-fold-set-up nil nil)
    (insert (propertize
             (string-join
              (delq nil
                    (list (hive-text-title prompt 40)
                          (hive-text-source-label prompt)
                          (hive-text-line (plist-get prompt :project) 40)
                          (hive-text-line (plist-get prompt :kind) 20)
                          (hive-text-value (plist-get prompt :urgency) 20)
                          (hive-text-value (plist-get prompt :status) 20)
                          (let ((note (string-trim (hive-human-label prompt))))
                            (unless (string-empty-p note) note))
                          (when (and (hive-prompt-pending-p prompt)
                                     (plist-get prompt :expires_at))
                            (hive-words "expires in %s"
                                        (hive-text-until (plist-get prompt :expires_at))))
                          (when (hive-prompt-blocked-p prompt) (hive-prompt-waits prompt))))
              (hive-mark " · "))
             'face 'hive-shadow)
            "\n\n")
    (setq begin (point))
    (hive-text-part 'question (insert (hive-text-inert (plist-get prompt :question)) "\n"))
    (hive-text-part 'notes
      (dolist (note (hive-read-notes prompt)) (insert "\n" note "\n")))
    (hive-text-part 'changed
      (dolist (file hive-prompt--changed)
        (insert "\n" (propertize (hive-words 'diff-changed (hive-text-line file 200)) 'face 'hive-warning) "\n")))
    ;; A permission shows its context before its options.
    (if (hive-permission-p prompt)
        (progn (hive-prompt--print-context prompt)
               (hive-prompt--print-options prompt)
               (hive-display-track prompt begin (point)))
      (hive-prompt--print-options prompt)
      (hive-prompt--print-context prompt))
    (hive-text-part 'answer (hive-prompt--insert-answer prompt))
    (hive-links-activate begin (point))
    (hive-text-part 'said (hive-prompt--insert-said prompt))
    (hive-text-part 'receipts (hive-prompt--insert-receipts prompt))
    (hive-prompt--insert-others)
    (hive-wrap-like-lines (point-min) (point-max))))

;;;; The mode

(defconst hive-prompt-keys
  '(((menu-answer
      ("a" menu-list-answer hive-prompt-answer)
      ("e" "answer in a buffer" hive-prompt-compose)
      ("+" "option and words" hive-prompt-choose-with-words)
      ("u" "take back or correct" hive-undo)
      ("A" menu-list-always hive-prompt-always)
      ("s" menu-list-snooze hive-prompt-snooze)
      ("c" menu-list-cancel hive-prompt-cancel))
     ("Read"
      ("n" "next hunk or question" hive-prompt-next)
      ("p" "previous hunk or question" hive-prompt-previous)
      ("N" "next question" hive-prompt-next-question)
      ("P" "previous question" hive-prompt-previous-question)
      ("E" "compare in Ediff" hive-diff-ediff)
      ("TAB" "fold, or next button" hive-prompt-tab)
      ("g" menu-list-refresh revert-buffer))
     ("Agent"
      ("i" menu-prompt-stop hive-prompt-interrupt)
      ("j" menu-list-terminal hive-prompt-visit-terminal))))
  "The keys in the buffer of a question, as the rows of their menu are.
See `hive-keys-map'.")

(defvar hive-prompt-mode-map
  (apply #'hive-keys-map 'hive-prompt-mode hive-prompt-keys
         :parent (make-composed-keymap button-buffer-map special-mode-map)
         ;; On a button, the keymap of the button is first.
         "RET" #'hive-prompt-answer
         "<backtab>" #'hive-prompt-backtab
         (cl-loop for number from 1 to 9
                  append (list (number-to-string number) #'hive-prompt-choose)))
  "Keymap of `hive-prompt-mode'.")

(define-derived-mode hive-prompt-mode special-mode "Hive-Question"
  "Major mode of the buffer that shows one question in full.
\\<hive-prompt-mode-map>\\[hive-keys] is a menu of its keys; 1 to 9 answer with an option.

On a heading of the context \\[hive-prompt-tab] folds its section, and \\[hive-prompt-backtab] all of them;
elsewhere they go to the next and to the previous button.  \\[hive-prompt-next] goes to the
next hunk of a diff, and after the last one to the next question.  On a
diff, \\<hive-diff-map>\\[hive-diff-visit] visits the line in its file, and \\[hive-diff-ediff] compares the file in Ediff.\\<hive-prompt-mode-map>
\\{hive-prompt-mode-map}"
  :interactive nil
  (hive-text-set-up #'hive-prompt--fetch)
  ;; `hive-fold-set-up' hides by this.
  (add-to-invisibility-spec 'hive-fold)
  (setq-local hive-prompt-at-point-function #'hive-prompt-shown)
  (hive-rpc-while-shown hive-ages-pause #'hive-prompt--print-ages)
  (add-hook 'hive-changed-hook #'hive-prompt--refresh-changed))

;;;; Updating

(defun hive-prompt--print-ages ()
  "Print the buffer again, with the ages that things have now.
A permission stays as it is until the human has read all of it."
  (unless (and (hive-prompt-unanswered-p hive-prompt--prompt)
               (hive-display-open-p (current-buffer)))
    (hive-prompt--print)))

(defun hive-prompt--refresh-changed ()
  "Update the buffers of questions that changed."
  (dolist (buffer (hive-buffers 'hive-prompt-mode))
    (with-current-buffer buffer
      (let* ((shown hive-prompt--prompt)
             (now (hive-model-prompt (plist-get shown :ask_id))))
        (when (and now (cl-some (lambda (key) (not (equal (plist-get now key) (plist-get shown key))))
                                '(:status :notes)))
          (hive-prompt--fetch))))))

(defun hive-prompt--fetch ()
  "Fetch the question of this buffer, and print it when it has arrived."
  (let ((id (plist-get hive-prompt--prompt :ask_id)))
    (hive-rpc-fetch
     'prompt/get (list :ask_id id)
     :then (lambda (result)
             (let ((changed (append (plist-get result :changed_files) nil)))
               ;; The note in the buffer may be above what the window shows.
               (dolist (file (cl-set-difference changed hive-prompt--changed :test #'equal))
                 (hive-announce 'diff-changed (hive-text-line file 60)))
               (setq hive-prompt--prompt (plist-get result :prompt)
                     hive-prompt--events (plist-get result :events)
                     hive-prompt--changed changed)
               (hive-prompt--print)))
     :failure 'prompt-fetch-failed)
    (hive-rpc-fetch
     'prompt/list (list :agent (plist-get hive-prompt--prompt :agent) :limit 20)
     :then (lambda (result)
             (setq hive-prompt--others
                   (cl-remove id (append (plist-get result :prompts) nil) :test #'equal
                              :key (lambda (other) (plist-get other :ask_id))))
             (hive-prompt--print)))))

;;;; Commands

(defun hive-prompt-find-buffer (prompt)
  "Return the buffer of PROMPT, or nil if there is none."
  (hive-buffer-of (plist-get prompt :ask_id) 'hive-prompt-mode 'hive-prompt--prompt))

(defun hive-prompt-buffer (prompt)
  "Return the buffer of PROMPT; details are added when they arrive."
  (let ((buffer (or (hive-prompt-find-buffer prompt)
                    (generate-new-buffer (hive-words "*hive: %s – %s*"
                                                     (hive-text-title prompt 16)
                                                     (hive-text-line (plist-get prompt :question) 20))))))
    (with-current-buffer buffer
      (unless (derived-mode-p 'hive-prompt-mode) (hive-prompt-mode))
      (setq hive-prompt--prompt prompt)
      (hive-prompt--print)
      (hive-text-to-top)
      (hive-prompt--fetch))
    buffer))

(defun hive-prompt-shown ()
  "Return the question of this buffer."
  hive-prompt--prompt)

(defun hive-prompt-show (prompt)
  "Show PROMPT in full."
  (hive-respond-seen prompt)
  (pop-to-buffer (hive-prompt-buffer prompt)))

(defun hive-prompt-answer ()
  "Answer the question of this buffer in the minibuffer."
  (interactive)
  (hive-answer-prompt hive-prompt--prompt current-prefix-arg))

(defun hive-prompt-compose ()
  "Answer the question of this buffer in a buffer of its own."
  (interactive)
  (hive-compose hive-prompt--prompt))

(defun hive-prompt-cancel ()
  "Cancel the question of this buffer: its agent gets no answer."
  (interactive)
  (hive-cancel-confirmed (list hive-prompt--prompt)))

(defun hive-prompt-snooze ()
  "Snooze or un-snooze the question of this buffer."
  (interactive)
  (when (hive-snooze-prompt hive-prompt--prompt) (quit-window)))

(defun hive-prompt-always ()
  "Show the rule that would allow what this permission asks for.
It is written only when you say so."
  (interactive)
  (hive-rule-for hive-prompt--prompt))

;;;; Commands: its agent

(defun hive-prompt-interrupt ()
  "Ask the agent of the question of this buffer to stop."
  (interactive)
  (hive-interrupt-asker hive-prompt--prompt))

(defun hive-prompt-visit-terminal ()
  "Go to the terminal of the agent that asks, in this Emacs or outside of it."
  (interactive)
  (hive-terminal-visit-asker hive-prompt--prompt))

;;;; Commands: moving

(defun hive-prompt--beside (back)
  "Return the pending question after this one, or with BACK the one before."
  (let* ((waiting (cl-remove-if #'hive-prompt-snoozed-p (hive-prompts-mine)))
         (waiting (if back (reverse waiting) waiting))
         (own (plist-get hive-prompt--prompt :ask_id))
         (from (cl-member own waiting :test #'equal :key (lambda (prompt) (plist-get prompt :ask_id)))))
    (if from (cadr from) (car waiting))))

(defun hive-prompt-next-question (&optional back)
  "Show the next pending question in this window; with BACK, the one before."
  (interactive)
  (let ((prompt (hive-prompt--beside back)))
    (unless prompt (hive-fail (if back
                                  "This is the first pending question"
                                "This is the last pending question")))
    (hive-respond-seen prompt)
    (pop-to-buffer-same-window (hive-prompt-buffer prompt))))

(defun hive-prompt-previous-question ()
  "Show the pending question before this one in this window."
  (interactive)
  (hive-prompt-next-question t))

(defun hive-prompt-next ()
  "Go to the next hunk of a diff, or after the last one to the next question."
  (interactive)
  (if (hive-diff-next) (hive-fold-reveal) (hive-prompt-next-question)))

(defun hive-prompt-previous ()
  "Go to the previous hunk of a diff, or before the first to the previous question."
  (interactive)
  (if (hive-diff-next t) (hive-fold-reveal) (hive-prompt-next-question t)))

(defun hive-prompt-tab ()
  "On a heading of the context, fold its section, else go to the next button."
  (interactive)
  (if (hive-fold-here-p) (hive-fold-toggle) (hive-prompt--button 1)))

(defun hive-prompt-backtab ()
  "On a heading of the context, fold all sections, else go to the previous button."
  (interactive)
  (if (hive-fold-here-p) (hive-fold-toggle-all) (hive-prompt--button -1)))

(defun hive-prompt--button (count)
  "Go to the button that is COUNT further, and show what it does."
  (forward-button count t t)
  (hive-fold-reveal))

;;;; Commands: answering with an option

(defun hive-prompt-choose ()
  "Answer with the option whose number was pressed."
  (interactive)
  (let* ((number (- last-command-event ?0))
         (option (nth (1- number) (append (plist-get hive-prompt--prompt :options) nil))))
    (unless option (hive-fail "This question has no option %d" number))
    (hive-prompt--send-label (plist-get option :label))))

(defun hive-prompt-choose-with-words ()
  "Answer with an option and with words of your own."
  (interactive)
  (let* ((options (append (plist-get hive-prompt--prompt :options) nil))
         (count (min 9 (length options)))
         (number (if (zerop count) (hive-fail 'compose-no-options)
                   (- (read-char-choice (hive-words "Option (1-%d): " count)
                                        (number-sequence ?1 (+ ?0 count)))
                      ?1)))
         (label (plist-get (nth number options) :label)))
    (hive-read-with-draft hive-prompt--prompt
      (lambda ()
        (let ((words (hive-read-words (hive-words 'with-words (hive-text-line label 40)) hive-read-typed)))
          (hive-prompt--send-label label (unless (string-blank-p words) words))
          'answered))
      nil (list label))))

(defun hive-prompt--send-label (label &optional words)
  "Answer the question of this buffer with the option LABEL and WORDS."
  (unless (hive-prompt-unanswered-p hive-prompt--prompt)
    (hive-fail 'prompt-closed))
  (let ((answer (hive-read-chosen (list label) words)))
    (hive-respond-confirm hive-prompt--prompt answer)
    ;; The claim records that the notes shown here were read.
    (hive-respond-claim hive-prompt--prompt)
    (hive-respond-send hive-prompt--prompt answer)))

(defvar hive-prompt--clicked nil
  "The id of the question that the next frame of this daemon shows.")

(cl-defmethod hive-rpc-handle ((_method (eql 'desk/open_prompt)) params)
  "Show the question in PARAMS, whose popup the human clicked."
  (when-let* ((prompt (hive-model-prompt (plist-get params :ask_id))))
    ;; Do not select it: keys in flight belong to another window.
    (if (hive-prompt--frame-p)
        (display-buffer (hive-prompt-buffer prompt))
      (setq hive-prompt--clicked (plist-get prompt :ask_id))
      (add-hook 'server-after-make-frame-hook #'hive-prompt--show-clicked))))

(defun hive-prompt--frame-p ()
  "Return non-nil unless this is a daemon without a frame that anybody sees."
  (or (not (daemonp))
      (cl-some (lambda (frame)
                 (not (equal (terminal-name (frame-terminal frame)) "initial_terminal")))
               (frame-list))))

(defun hive-prompt--show-clicked ()
  "Show the question whose popup was clicked while there was no frame."
  (remove-hook 'server-after-make-frame-hook #'hive-prompt--show-clicked)
  (let ((prompt (hive-model-prompt hive-prompt--clicked)))
    (setq hive-prompt--clicked nil)
    (when prompt
      (display-buffer (hive-prompt-buffer prompt)))))

(provide 'hive-prompt)
;;; hive-prompt.el ends here
