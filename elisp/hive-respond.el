;;; hive-respond.el --- Answering agents from the minibuffer  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; `hive-respond' picks a question that waits and answers it: with one of
;; its options, several of them, or words of your own.  Every answer goes
;; through the outbox, so it is on the disk before you read "queued".

;;; Code:

(require 'cl-lib)
(require 'hive-model)
(require 'hive-notify)
(require 'hive-outbox)
(require 'hive-rpc)
(require 'hive-text)
(require 'subr-x)

(defcustom hive-user-name nil
  "The name under which your answers are kept; agents see it.
Nil means your full name, or else your login name."
  :type '(choice (const :tag "Full name or login name" nil) string)
  :group 'hive)

(defvar hive-respond-history nil "Answers typed before.")

(defun hive-respond--name ()
  "Return the name of the human."
  (let ((name (or hive-user-name (user-full-name))))
    (hive-text-sendable
     (if (member name '(nil "" "unknown")) (user-login-name) name))))

;;;; Which question

(defun hive-respond--annotation (prompt)
  "Return what is shown after PROMPT in a list of candidates."
  (propertize (format "  %s  %s%s"
                      (hive-text-line (plist-get prompt :project) 24)
                      (hive-text-age (plist-get prompt :created_at))
                      (if (equal (plist-get prompt :kind) "permission")
                          "  permission" ""))
              'face 'completions-annotations))

(defun hive-respond--mark (prompt)
  "Return the mark of PROMPT's urgency, two columns wide."
  (pcase (hive-prompt-rank prompt) (0 "! ") (2 "· ") (_ "  ")))

(defun hive-respond--candidates (waiting)
  "Return an alist of distinct lines and what is WAITING, in order."
  (let ((seen (make-hash-table :test #'equal)))
    (mapcar (lambda (prompt)
              (let* ((line (concat (hive-text-line (plist-get prompt :agent) 30) ": "
                                   (hive-text-line (plist-get prompt :question) 100)))
                     (count (puthash line (1+ (gethash line seen 0)) seen)))
                (cons (if (> count 1) (format "%s <%d>" line count) line) prompt)))
            waiting)))

(defun hive-respond--choose (waiting)
  "Let the human choose one of WAITING; the first is the default."
  (let* ((alist (hive-respond--candidates waiting))
         (affix (lambda (lines)
                  (mapcar (lambda (line)
                            (let ((prompt (cdr (assoc line alist))))
                              (list line (hive-respond--mark prompt)
                                    (hive-respond--annotation prompt))))
                          lines)))
         (line (completing-read
                (format "Answer which of %d: " (length waiting))
                (hive-respond--table (mapcar #'car alist) 'hive-prompt affix)
                nil t nil nil (caar alist))))
    (cdr (assoc line alist))))

(defun hive-respond--table (candidates category affix)
  "Return a completion table of CANDIDATES of CATEGORY, in their order.
AFFIX is the affixation function."
  (lambda (string predicate action)
    (if (eq action 'metadata)
        `(metadata (category . ,category)
                   (affixation-function . ,affix)
                   (display-sort-function . identity)
                   (cycle-sort-function . identity))
      (complete-with-action action candidates string predicate))))

;;;; Which answer

(defun hive-respond--prompt-line (prompt &optional what)
  "Return the minibuffer prompt for answering PROMPT, with WHAT in parentheses."
  (concat (hive-text-line (plist-get prompt :agent) 30) " asks: "
          (hive-text-line (plist-get prompt :question) 240)
          (if what (format " (%s)" what) "") " "))

(defun hive-respond--read (prompt-line labels affix strict default)
  "Read one of LABELS under PROMPT-LINE, or free text unless STRICT.
AFFIX annotates; DEFAULT is what an empty answer means."
  (minibuffer-with-setup-hook
      (lambda ()
        ;; Free text has spaces and question marks.
        (let ((map (make-sparse-keymap)))
          (set-keymap-parent map (current-local-map))
          (define-key map " " #'self-insert-command)
          (define-key map "?" #'self-insert-command)
          (use-local-map map)))
    (completing-read prompt-line (hive-respond--table labels 'hive-option affix)
                     nil strict nil 'hive-respond-history default)))

(defun hive-respond--labels (options)
  "Return an alist of what is shown and the labels of OPTIONS."
  (let (alist)
    (dolist (option (append options nil) (nreverse alist))
      (let* ((label (plist-get option :label))
             (shown (hive-text-line label)))
        (while (assoc shown alist) (setq shown (concat shown " ")))
        (push (cons shown label) alist)))))

(defun hive-respond--meant (text alist)
  "Return the label in ALIST that TEXT names, whatever its case, or nil."
  (cdr (or (assoc text alist)
           (let ((same (cl-remove-if-not
                        (lambda (cell)
                          (string-equal (downcase (string-trim (car cell)))
                                        (downcase (string-trim text))))
                        alist)))
             (and same (null (cdr same)) (car same))))))

(defun hive-respond--affix (options alist &optional chosen)
  "Return an affixation function for OPTIONS, shown as in ALIST.
CHOSEN is a function that returns the labels chosen so far."
  (lambda (lines)
    (mapcar
     (lambda (line)
       (let* ((label (cdr (assoc line alist)))
              (option (cl-find label (append options nil) :test #'equal
                               :key (lambda (option) (plist-get option :label))))
              (description (plist-get option :description)))
         (list line
               (cond ((not (and chosen label)) "")
                     ((member label (funcall chosen)) "[x] ")
                     (t "[ ] "))
               (if description
                   (propertize (concat "  " (hive-text-line description 120))
                               'face 'completions-annotations)
                 ""))))
     lines)))

(defun hive-respond--read-text (prompt)
  "Read an answer to PROMPT in the human's own words."
  (list :decision (read-string (hive-respond--prompt-line prompt)
                               nil 'hive-respond-history)))

(defun hive-respond--read-option (prompt)
  "Read one option of PROMPT, or free text where that is allowed."
  (let* ((options (plist-get prompt :options))
         (alist (hive-respond--labels options))
         (free (hive-prompt-flag prompt :allow_free_text))
         (text (hive-respond--read
                (hive-respond--prompt-line
                 prompt (concat (string-join (mapcar #'car alist) " / ")
                                (if free " / your own words" "")))
                (mapcar #'car alist) (hive-respond--affix options alist)
                (not free) nil))
         (label (hive-respond--meant text alist)))
    (if label
        (list :decision label :selected (vector label))
      (list :decision text))))

(defun hive-respond--read-options (prompt)
  "Read several options of PROMPT, one after the other.
Each RET adds one or takes it back; an empty RET ends.  Words of
your own become the answer, or a comment to what you chose."
  (let* ((options (plist-get prompt :options))
         (alist (hive-respond--labels options))
         (free (hive-prompt-flag prompt :allow_free_text))
         (affix (lambda (chosen)
                  (hive-respond--affix options alist (lambda () chosen))))
         (chosen nil) (own nil) (done nil))
    (while (not done)
      (let* ((finish (format "[done: %s]"
                             (if chosen (mapconcat #'hive-text-line (reverse chosen) ", ")
                               "nothing chosen")))
             (text (hive-respond--read
                    (hive-respond--prompt-line
                     prompt
                     (concat (string-join (mapcar #'car alist) " / ")
                             (if chosen
                                 (format "; chosen: %s; RET sends"
                                         (mapconcat #'hive-text-line (reverse chosen) ", "))
                               "; choose several, then RET")))
                    (cons finish (mapcar #'car alist))
                    (funcall affix chosen) (not free) finish))
             (label (hive-respond--meant text alist)))
        (cond ((member text (list "" finish)) (setq done t))
              ((member label chosen) (setq chosen (delete label chosen)))
              (label (push label chosen))
              (t (setq own text done t)))))
    (append (list :decision (or own ""))
            (when chosen (list :selected (vconcat (reverse chosen))))
            (when (and chosen own) (list :comment own)))))

;;;; Answering

(defun hive-respond--response-id ()
  "Return a new id, by which the store knows an answer sent twice."
  (let ((hash (secure-hash 'sha256 (format "%S" (list (random) (random) (emacs-pid)
                                                      (float-time) (user-uid)
                                                      (recent-keys))))))
    (format "%s-%s-4%s-a%s-%s" (substring hash 0 8) (substring hash 8 12)
            (substring hash 13 16) (substring hash 17 20) (substring hash 20 32))))

(defun hive-respond--seen (prompt)
  "Record that the human opened PROMPT; nobody waits for that."
  (unless (plist-get prompt :seen_at)
    (hive-rpc-request 'prompt/seen (list :ask_id (plist-get prompt :ask_id)))))

(defun hive-respond--empty-p (answer)
  "Return non-nil when ANSWER is empty."
  (and (not (plist-get answer :selected))
       (string-blank-p (plist-get answer :decision))))

(defun hive-respond--send (prompt answer)
  "Put ANSWER to PROMPT into the outbox and say so.
ANSWER is a plist of :decision, :selected and :comment."
  (let* ((ask-id (plist-get prompt :ask_id))
         (decision (plist-get answer :decision))
         (comment (plist-get answer :comment))
         (selected (plist-get answer :selected))
         (text (string-trim (concat (if selected (string-join (append selected nil) ", ")
                                      decision)
                                    (if comment (concat "\n" comment) "")))))
    (hive-outbox-add
     ask-id "hivemind-response"
     `( :ask_id ,ask-id
        :decision ,(hive-text-sendable decision)
        ,@(when selected (list :selected selected))
        ,@(when comment (list :comment (hive-text-sendable comment)))
        :by ,(hive-respond--name)
        :response_id ,(hive-respond--response-id)
        ,@(let ((store (plist-get hive-sidecar-info :store_id)))
            (when store (list :store_id store))))
     text)
    (hive-respond--say-queued ask-id text)))

(defun hive-respond--say-queued (ask-id text)
  "Say that an answer to ASK-ID is on its way.
When the question was settled while the human typed, say that
instead, and keep TEXT in the kill ring."
  (let ((now (hive-model-get 'prompt ask-id)))
    (if (and now (hive-prompt-pending-p now))
        (message "Hive: answer queued")
      (unless (string-empty-p text) (kill-new text))
      (message "Hive: this question was %s meanwhile; your answer is sent all the same and is in the kill ring"
               (hive-respond--fate now)))))

(defun hive-respond--fate (prompt)
  "Return what became of PROMPT, in words."
  (pcase (plist-get prompt :status)
    ("responded" (format "answered by %s" (hive-text-line (plist-get prompt :by) 40)))
    ("expired" "past its time")
    ("cancelled" "cancelled")
    (_ "settled")))

(defun hive-respond--acked (entry result)
  "Say what became of the answer in ENTRY, according to RESULT."
  (let ((agent (hive-text-line (plist-get result :agent) 40))
        (decision (hive-text-line (plist-get result :decision) 60)))
    (cond
     ((hive-prompt-flag result :accepted)
      (hive-notify-say "Answered %s: %s (stored)" agent decision))
     ((hive-prompt-flag result :late)
      (hive-notify-say "Your answer to %s came late: it is kept and %s will see it"
                       agent agent))
     (t
      (hive-notify-say "%s had an answer already, from %s: %s"
                       agent (hive-text-line (plist-get result :by) 40) decision)))
    (ignore entry)))

(add-hook 'hive-outbox-acked-functions #'hive-respond--acked)

;;;###autoload
(defun hive-answer-prompt (prompt &optional comment)
  "Answer PROMPT, a plist of the model, in the minibuffer.
With options: complete one, or several where the agent allows
several; otherwise type your answer.  With COMMENT, ask for a
comment too.  \\<minibuffer-local-map>\\[abort-recursive-edit] leaves the question as it is."
  (hive-respond--seen prompt)
  (let ((answer
         (hive-respond--with-details prompt
           (lambda ()
             (let ((answer (cond
                            ((seq-empty-p (plist-get prompt :options))
                             (hive-respond--read-text prompt))
                            ((hive-prompt-flag prompt :multi_select)
                             (hive-respond--read-options prompt))
                            (t (hive-respond--read-option prompt)))))
               (when (hive-respond--empty-p answer)
                 (user-error "Nothing was said: the question still waits"))
               (if comment
                   (plist-put answer :comment (read-string "Comment: "))
                 answer))))))
    (hive-respond--send prompt answer)))

(defun hive-respond--with-details (prompt read)
  "Call READ while what a minibuffer is too small for is shown of PROMPT."
  (let ((question (plist-get prompt :question))
        (context (plist-get prompt :context))
        (buffer nil))
    (unwind-protect
        (progn
          (when (or context (> (length question) 200) (string-search "\n" question))
            (setq buffer (get-buffer-create "*hive question*"))
            (with-current-buffer buffer
              (let ((inhibit-read-only t))
                (erase-buffer)
                (special-mode)
                (visual-line-mode)
                (insert (hive-text-inert question) "\n")
                (when context (insert "\n" (hive-text-inert context) "\n"))
                (goto-char (point-min))))
            (display-buffer buffer '((display-buffer-below-selected
                                      display-buffer-pop-up-window)
                                     (window-height . fit-window-to-buffer))))
          (funcall read))
      (when (buffer-live-p buffer)
        (let ((window (get-buffer-window buffer)))
          (if window (quit-window t window) (kill-buffer buffer)))))))

;;;###autoload
(defun hive-respond (&optional comment)
  "Answer a question of an agent.
When several wait, choose one first: the most urgent and oldest is
the default.  With a prefix argument COMMENT, add a comment.
Your answer is on the disk before Emacs says so, and reaches the
agent even if Emacs or the sidecar dies."
  (interactive "P")
  (let ((prompts (hive-prompts)))
    (cond
     ((and (null prompts) (eq hive-sidecar-state 'off))
      (user-error "Hive is off: turn it on with M-x hive-mode"))
     ((and (null prompts) (not (hive-sidecar-connected-p)))
      (user-error "Hive is not connected%s"
                  (if hive-sidecar-problem (concat ": " hive-sidecar-problem) " yet")))
     ((null prompts) (message "No agent waits for you"))
     ((null (cdr prompts)) (hive-answer-prompt (car prompts) comment))
     (t (hive-answer-prompt (hive-respond--choose prompts) comment)))))

(defun hive-cancel-prompt (prompt)
  "Cancel PROMPT, a plist of the model: its agent gets no answer."
  (let ((agent (hive-text-line (plist-get prompt :agent) 40)))
    (hive-rpc-request
     'prompt/cancel (list :ask_id (plist-get prompt :ask_id) :by (hive-respond--name))
     :success (lambda (result)
                (if (hive-prompt-flag result :accepted)
                    (hive-notify-say "Cancelled the question of %s" agent)
                  (hive-notify-say "The question of %s was %s already" agent
                                   (hive-respond--fate (plist-get result :prompt)))))
     :error (lambda (err)
              (hive-notify-say "Hive could not cancel: %s"
                               (hive-text-line (plist-get err :text) 200))))))

(provide 'hive-respond)
;;; hive-respond.el ends here
