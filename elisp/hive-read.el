;;; hive-read.el --- Reading a question and an answer  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; In the minibuffer the human chooses a question, then one option, several
;; options, a template or an answer of their own.  Another buffer shows what is
;; too long for the minibuffer.

;;; Code:

(require 'cl-lib)
(require 'hive-diff)
(require 'hive-display)
(require 'hive-human)
(require 'hive-links)
(require 'hive-messages)
(require 'hive-model)
(require 'hive-rpc)
(require 'hive-text)
(require 'map)
(require 'subr-x)

(declare-function hive-batch-insert "hive-batch")
(declare-function hive-respond-claim "hive-respond")
(declare-function hive-respond-lost-p "hive-respond")
(declare-function hive-respond-settled-since "hive-respond")
(declare-function hive-respond-undo-delay "hive-respond")

;;;; The text below a question

(defconst hive-read--lines 5
  "How many lines of a context are shown where not all of them fit.")

(defun hive-read-notes (prompt)
  "Return what the agent has added to PROMPT since, a list of texts.
They stay the same, because a permission that changes has to be read
again: so they give times and no ages."
  (mapcar (lambda (note)
            (hive-words "The agent added at %s: %s" (hive-text-local (plist-get note :at) "%F %H:%M")
                        (hive-text-inert (plist-get note :text))))
          (append (plist-get prompt :notes) nil)))

(defun hive-read--context-lines (prompt)
  "Return the lines of the context of PROMPT, with its diffs coloured.
Empty lines are left out, except within a diff."
  (cl-remove-if (lambda (line)
                  (and (string-blank-p line)
                       (or (equal line "") (not (get-text-property 0 'hive-diff line)))))
                (split-string (hive-diff-text (hive-text-trimmed (hive-text-inert (plist-get prompt :context))))
                              "\n")))

(defun hive-read-below (prompt &optional width more)
  "Return what is shown below the question of PROMPT, in lines.
It is what the agent has added since, and the context.  With WIDTH,
these are the first lines, at most that wide, and how many follow;
MORE is for how many more lines than usual there is room."
  (let* ((lines (hive-read--context-lines prompt))
         (rest (and width (nthcdr (+ hive-read--lines (or more 0)) lines)))
         ;; A line that says how many follow takes the room of one.
         (rest (and (cdr rest) rest)))
    (concat
     (mapconcat (lambda (note)
                  (concat (if width (hive-text-line note (* 3 width)) note) "\n"))
                (hive-read-notes prompt) "")
     (mapconcat (lambda (line)
                  ;; Indentation is a part of code.
                  (concat "  " (if width (truncate-string-to-width line (max 20 (- width 3)) nil nil (hive-mark "…"))
                                 line)
                          "\n"))
                (butlast lines (length rest)) "")
     (cond ((hive-rpc-true-p prompt :context_truncated)
            (propertize (hive-words "  … and more; SPC scrolls all of it in a side window\n") 'face 'hive-warning))
           (rest
            (propertize (hive-words "  … and %s; SPC scrolls them in a side window\n" (hive-count (length rest) "more line"))
                        'face 'hive-warning))
           (t "")))))

;;;; The buffer shown with the minibuffer

(defconst hive-read--buffer "*hive question*"
  "The name of the buffer that shows a question while it is answered.")

(defvar-local hive-read--notes-shown nil "The notes that this buffer shows.")

(defconst hive-read--reading 2
  "For how many seconds a new note is shown before it counts as read.
An answer that is sent sooner was typed without it.")

(defun hive-read-with-details (prompt read &optional shown)
  "Call READ; if PROMPT is long, show it in a buffer in the meantime.
With SHOWN, another window shows it already.  The buffer, or if there is
none the minibuffer, shows what the agent adds while the human types.  The
minibuffer says if the question is settled elsewhere."
  (let* ((question (plist-get prompt :question))
         (buffer nil) (minibuffer nil)
         (notes (hive-read-notes prompt)) (reading nil)
         (look (lambda ()
                 (hive-read--show-new-notes prompt buffer)
                 (hive-read--tell-fate prompt minibuffer (or shown buffer))
                 (let ((now (hive-model-prompt (plist-get prompt :ask_id))))
                   (unless (or (null now) (equal notes (hive-read-notes now)))
                     (setq notes (hive-read-notes now))
                     (when reading (cancel-timer reading))
                     (setq reading (hive-later hive-read--reading #'hive-respond-claim now))))))
         ;; A minibuffer that is opened within this one has another buffer.
         (setup (lambda ()
                  (unless (buffer-live-p minibuffer) (setq minibuffer (current-buffer)))
                  (hive-read--tell-fate prompt minibuffer (or shown buffer)))))
    (unwind-protect
        (progn
          (when (and (not shown)
                     (or (plist-get prompt :context) (plist-get prompt :batch) (hive-read-notes prompt)
                         (> (length question) 200) (string-search "\n" question)
                         (hive-permission-p prompt)))
            (setq buffer (get-buffer-create hive-read--buffer))
            (hive-read--show prompt buffer)
            (display-buffer buffer '((display-buffer-below-selected
                                      display-buffer-pop-up-window)
                                     (window-height . hive-read--fit)))
            (when (hive-rpc-true-p prompt :context_truncated)
              (hive-read--fetch prompt buffer)))
          (unless (plist-get prompt :batch)
            (add-hook 'hive-changed-hook look)
            (add-hook 'minibuffer-setup-hook setup))
          (funcall read))
      (remove-hook 'hive-changed-hook look)
      (remove-hook 'minibuffer-setup-hook setup)
      (when reading (cancel-timer reading))
      (hive-read--forget-fate minibuffer)
      (hive-text-close buffer))))

(defun hive-read--tell-fate (prompt minibuffer &optional shown)
  "If PROMPT was settled by now, show how after the text in MINIBUFFER.
Otherwise show its newest note there if that is new, unless a window shows
the notes: SHOWN."
  (let* ((fate (hive-respond-settled-since prompt))
         (notes (hive-read-notes (hive-model-prompt (plist-get prompt :ask_id))))
         (text (cond ((null fate)
                      (unless (or shown (length= notes (length (hive-read-notes prompt))))
                        (format "  [%s]" (hive-text-line (car (last notes)) 240))))
                     ((hive-respond-lost-p prompt)
                      (hive-words "  [already %s; your answer would not be accepted]" fate))
                     (t (hive-words "  [already %s; your answer would be stored as late]" fate)))))
    (when (and text (buffer-live-p minibuffer))
      (hive-read--forget-fate minibuffer)
      (with-current-buffer minibuffer
        (let ((overlay (make-overlay (point-max) (point-max) nil t t)))
          ;; The cursor stays before it.
          (overlay-put overlay 'after-string (propertize text 'face 'hive-warning 'cursor t))
          (overlay-put overlay 'hive-fate t))))))

(defun hive-read--forget-fate (minibuffer)
  "Remove the overlay of `hive-read--tell-fate' from MINIBUFFER, if that lives."
  (when (buffer-live-p minibuffer)
    (with-current-buffer minibuffer (remove-overlays nil nil 'hive-fate t))))

(defun hive-read--fit (window)
  "Fit WINDOW to its buffer, with the lines that a long prompt takes from it."
  (fit-window-to-buffer window)
  (window-resize window (min 2 (window-max-delta window nil nil nil t))))

(defun hive-read--show-new-notes (prompt buffer)
  "Show in BUFFER what was added to PROMPT since it was printed."
  (let ((now (hive-model-prompt (plist-get prompt :ask_id))))
    (when (and now (buffer-live-p buffer)
               (not (equal (plist-get now :notes)
                           (buffer-local-value 'hive-read--notes-shown buffer))))
      (if (hive-rpc-true-p now :context_truncated)
          (hive-read--fetch now buffer)
        (hive-read--show now buffer)))))

(defun hive-read--show (prompt buffer)
  "Print PROMPT in BUFFER, or each question of a batch."
  (with-current-buffer buffer
    (unless (derived-mode-p 'special-mode)
      (special-mode)
      (hive-text-set-up))
    (let ((notes hive-read--notes-shown))
      (hive-text-reprint
       (lambda ()
         (if (plist-get prompt :batch)
             (hive-batch-insert (plist-get prompt :batch))
           (hive-read--insert prompt))
         (hive-wrap-heed (point-min) (point-max))))
      ;; A new note must be visible.
      (unless (equal notes hive-read--notes-shown) (hive-text-to-top)))))

(defun hive-read--insert (prompt)
  "Insert the question, the notes and the context of PROMPT."
  (setq hive-read--notes-shown (plist-get prompt :notes))
  (insert (hive-text-inert (plist-get prompt :question)) "\n")
  ;; Above the context, which may be long.
  (dolist (note (hive-read-notes prompt)) (insert "\n" note "\n"))
  (when-let* ((context (plist-get prompt :context)))
    (insert "\n" (hive-diff-text (hive-text-inert context)) "\n"))
  (when (hive-permission-p prompt)
    (insert "\n" (hive-read-options-text prompt) "\n")
    (hive-display-track prompt (point-min) (point-max)))
  (hive-links-activate (point-min) (point-max))
  (when (hive-rpc-true-p prompt :context_truncated)
    (insert (hive-words 'context-loading))))

(defun hive-read-options-text (prompt)
  "Return the options of PROMPT with their descriptions, in lines."
  (mapconcat (lambda (option)
               (concat "[" (hive-text-inert (plist-get option :label)) "] "
                       (hive-text-inert (plist-get option :description))))
             (plist-get prompt :options) "\n"))

(defun hive-read-fetch (prompt then)
  "Fetch PROMPT with its whole context, and call THEN with it."
  (hive-rpc-request
   'prompt/get (list :ask_id (plist-get prompt :ask_id))
   :success (lambda (result) (funcall then (plist-get result :prompt)))
   :error (hive-announcing 'prompt-fetch-failed)))

(defun hive-read--fetch (prompt buffer)
  "Fetch the whole context of PROMPT, and print it in BUFFER."
  (hive-read-fetch prompt (lambda (whole)
                            (when (buffer-live-p buffer) (hive-read--show whole buffer)))))

;;;; Half-typed options

;; Where free text is allowed, half an option or a typo looks like free text.
;; So the human is asked before it is sent.

(defun hive-read--begun (typed options)
  "Return the OPTIONS, strings, that begin with TYPED."
  (let ((typed (string-trim typed)))
    (unless (string-empty-p typed)
      (cl-remove-if-not (lambda (option) (string-prefix-p typed option t)) options))))

(defun hive-read-meant (typed options &optional remark)
  "Return which of OPTIONS, strings, the human meant by TYPED.
TYPED is none of them.  Return TYPED if it is free text, and nil if
the human wants to edit it.  Ask if TYPED is the beginning of an
option; otherwise only with REMARK, a yes-or-no question."
  (let* ((begun (hive-read--begun typed options))
         (numbered (cl-loop for option in begun for key from ?1 to ?9
                            collect (cons key option))))
    (cond
     (numbered
      (pcase (read-char-choice (hive-read--question typed numbered)
                               (append (mapcar #'car numbered) '(?w ?e)))
        (?w typed)
        (?e nil)
        (key (cdr (assq key numbered)))))
     ((or (null remark) (y-or-n-p remark)) typed))))

(defun hive-read--question (typed numbered)
  "Return the question which of NUMBERED the human meant by TYPED.
NUMBERED is an alist of keys and options."
  (hive-words
   "Which did you mean by \"%s\"?  %s  [w] send it as typed  [e] edit it " (hive-text-line typed 40)
   (mapconcat (lambda (cell)
                (format "[%c] %s" (car cell) (hive-text-line (cdr cell) 60)))
              numbered "  ")))

;;;; Reply templates

;; Templates are offered in addition to the options: in `hive-next' with
;; a key, in the minibuffer as a candidate.  They also answer mentions, with a
;; key in `hive-check-mentions' and in shared buffers, and with M-n where a
;; message is typed in the minibuffer.

(defcustom hive-reply-templates
  '(("mention" nil "Thanks, noted." "Yes, go ahead." "Not now; go on without me."))
  "Answers that Hive offers where free text is allowed.
Each element is (KIND PROJECT TEXT...): the texts are offered for
that KIND (\"question\", \"permission\" or \"mention\") from that
PROJECT; nil means any.  A TEXT that is a list (OPTION WORDS) is
offered where the question has that option: it chooses the option and
adds the words as a comment.  For example:

  ((nil nil \"Look at the tests first.\" (\"Yes\" \"but keep it small.\"))
   (\"permission\" \"rocket\" (\"Deny\" \"only in a branch.\"))
   (\"mention\" nil \"I will look at it today.\"))"
  :type '(repeat (cons (choice (const :tag "Any kind" nil)
                               (const "question") (const "permission") (const "mention"))
                       (cons (choice (const :tag "Any project" nil) string)
                             (repeat (choice (string :tag "Text")
                                             (list :tag "Option and words" string string))))))
  :group 'hive)

(defface hive-template '((t :inherit italic))
  "A reply template." :group 'hive-faces)

(defun hive-read--matching (kind project)
  "Return the distinct templates for KIND and PROJECT."
  (cl-remove-duplicates
   (cl-loop for (its-kind its-project . texts) in hive-reply-templates
            when (and (member its-kind (list nil kind))
                      (member its-project (list nil project)))
            append texts)
   :test #'equal :from-end t))

(defun hive-template-texts (prompt)
  "Return the templates for PROMPT, as they could be typed.
Texts are offered where free text is allowed, and words for an option
where the question has that option."
  (let ((free (hive-rpc-true-p prompt :allow_free_text)))
    (cl-loop for text in (hive-read--matching (plist-get prompt :kind) (plist-get prompt :project))
             if (stringp text) when free collect text end
             else when (hive-read-label prompt (car text))
             collect (format "%s, %s" (hive-read-label prompt (car text)) (cadr text)))))

(defun hive-template-messages (project)
  "Return the templates for mentions and messages in PROJECT."
  (cl-remove-if-not #'stringp (hive-read--matching "mention" project)))

;;;; Words added to an option

;; "Yes, but only on Friday" chooses the option "Yes", and the rest is its
;; comment.

(defun hive-read-label (prompt text)
  "Return the label of the option of PROMPT that TEXT names, or nil.
Case and surrounding white space do not count."
  (let ((text (downcase (string-trim text))))
    (cl-loop for option in (append (plist-get prompt :options) nil)
             for label = (plist-get option :label)
             when (equal text (downcase (string-trim label))) return label)))

(defun hive-read-chosen (labels &optional comment)
  "Return the answer that chooses LABELS, a list, with COMMENT."
  (append (list :decision (string-join labels ", ") :selected (vconcat labels))
          (and comment (list :comment comment))))

(defun hive-read-understood (prompt text)
  "Return the answer to PROMPT that TEXT means, as `hive-read-answer' does.
It is an option, an option and words after a comma, a colon, a semicolon
or a dash, or else free text."
  (let ((label (hive-read-label prompt text)))
    (if label (hive-read-chosen (list label))
      (or (cl-loop for start = 0 then (match-end 0)
                   ;; A label has 500 characters at most.
                   while (and (<= start 600) (string-match "[,;:][ \t\n]+\\|[ \t]+[-–—][ \t]+" text start))
                   for named = (hive-read-label prompt (substring text 0 (match-beginning 0)))
                   for words = (string-trim (substring text (match-end 0)))
                   when (and named (not (string-empty-p words)))
                   return (hive-read-chosen (list named) words))
          (list :decision text)))))

;;;; Choosing a question

(defvar hive-read-history nil "Minibuffer history of answers.")

(defun hive-read--annotation (prompt)
  "Return the annotations of the candidate PROMPT, for `hive-read-table'."
  (list (pcase (hive-prompt-rank prompt) (0 "! ") (2 (hive-mark "· ")) (_ "  "))
        (format "  %s%s  %s%s"
                (hive-human-label prompt)
                (hive-text-line (plist-get prompt :project) 24)
                (hive-prompt-waits prompt)
                (if (hive-permission-p prompt) (concat "  " (hive-words "permission")) ""))))

(defun hive-read-candidates (things line)
  "Return an alist of distinct lines and THINGS, in order.
LINE is a function that returns the line of a thing; lines that
several things share get a number."
  (let ((seen (make-hash-table :test #'equal)))
    (mapcar (lambda (thing)
              (let* ((text (funcall line thing))
                     (count (puthash text (1+ (gethash text seen 0)) seen)))
                (cons (if (> count 1) (format "%s <%d>" text count) text) thing)))
            things)))

(defun hive-read-question-line (prompt)
  "Return the completion candidate for PROMPT, or for a batch.
Its property `hive-ask-id' says which question it is."
  (propertize (hive-read--line prompt) 'hive-ask-id (plist-get prompt :ask_id)))

(defun hive-read-question-of (line)
  "Return the question of LINE, a value of `hive-read-question-line'.
If LINE has lost its property, it is the first with this text.  Signal a
`user-error' if that question is no longer known."
  (let ((id (and (not (string-empty-p line)) (get-text-property 0 'hive-ask-id line))))
    (or (if id (hive-model-prompt id)
          (cdr (assoc line (hive-read-candidates (hive-prompts) #'hive-read--line))))
        (hive-fail 'prompt-closed))))

(defun hive-read--line (prompt)
  "Return the words of the completion candidate for PROMPT, or for a batch."
  (concat (if (plist-get prompt :batch)
              (hive-words "%d alike, answer all" (length (plist-get prompt :batch)))
            (hive-text-agent prompt 30))
          ": "
          (hive-text-question prompt 100)))

(defun hive-read--offered (waiting)
  "Return WAITING with a batch before each question that has others like it.
A batch is its first question with the list as :batch."
  (let ((batches (make-hash-table :test #'equal)))
    (dolist (prompt (reverse waiting))
      (when-let* ((alike (plist-get prompt :alike)))
        (push prompt (gethash alike batches))))
    (cl-loop for prompt in waiting
             for batch = (gethash (plist-get prompt :alike) batches)
             when (and (cdr batch) (eq prompt (car batch)))
             collect (append (list :batch batch) prompt)
             collect prompt)))

(defun hive-read-prompt (waiting)
  "Let the human choose one of WAITING; the first is the default.
Questions that are alike can be chosen together: then return the first
with all of them as :batch."
  (let* ((alist (hive-read-candidates (hive-read--offered waiting) #'hive-read-question-line))
         (line (completing-read
                (hive-words "Answer (%d pending, default %s): "
                            (length waiting) (hive-text-line (caar alist) 60))
                (hive-read-table alist 'hive-question #'hive-read--annotation
                                 (lambda (prompt) (hive-text-line (plist-get prompt :project) 40)))
                nil t nil nil (caar alist))))
    (cdr (assoc line alist))))

(defun hive-read-table (alist category annotate &optional group)
  "Return a completion table of ALIST, lines and things, in this order.
CATEGORY is theirs.  ANNOTATE is a function of a thing that returns what
is shown after its line, or a list of what is before and after it.
GROUP, if any, returns the name of the group of a thing."
  (let ((things (map-into alist '(hash-table :test equal))))
    (lambda (string predicate action)
      (hive-text-complete)
      (if (eq action 'metadata)
          `(metadata (category . ,category)
                     (affixation-function
                      . ,(lambda (lines)
                           (mapcar (lambda (line) (hive-read--affixed line (funcall annotate (gethash line things))))
                                   lines)))
                     ,@(when group
                         `((group-function . ,(lambda (line transform)
                                                (if transform line (funcall group (gethash line things)))))))
                     (display-sort-function . identity)
                     (cycle-sort-function . identity))
        (complete-with-action action alist string predicate)))))

(defun hive-read--affixed (line note)
  "Return LINE and what is before and after it, which is in NOTE."
  (pcase-let ((`(,before ,behind) (if (consp note) note (list "" note))))
    (setq behind (copy-sequence (or behind "")))
    (add-face-text-property 0 (length behind) 'completions-annotations t behind)
    (list line before behind)))

(defun hive-read-or-handle (table handles)
  "Return a completion table that takes what TABLE has, or one of HANDLES.
Agents are shown by title, but a handle can be typed, too."
  (lambda (string predicate action)
    (cond ((eq action 'lambda)
           (or (test-completion string table predicate) (test-completion string handles)))
          ((or (null action) (eq action t))
           (complete-with-action
            action (if (all-completions string table predicate) table handles) string predicate))
          (t (complete-with-action action table string predicate)))))

(defun hive-read-session-table (sessions)
  "Return a completion table of the titles of SESSIONS, or of handles of theirs."
  (hive-read-or-handle
   (hive-read-table (mapcar (lambda (session) (cons (hive-text-title session) session)) sessions)
                    'hive-session
                    (lambda (session)
                      (format "  %s  %s  %s  %s"
                              (hive-text-line (plist-get session :project) 24)
                              (hive-text-value (plist-get session :state) 8)
                              (hive-text-age (plist-get session :last_seen_at))
                              (hive-text-line (plist-get session :handle) 24))))
   (mapcar #'hive-model-handle sessions)))

(defun hive-read-agent (prompt things)
  "Ask with PROMPT, as for `hive-words', for the agent of one of THINGS.
Agents are offered by title, with project and handle each.  Return a
handle, or what was typed if it is not one."
  (let* ((agents (hive-model-agents things))
         (alist (hive-read-candidates agents #'hive-text-title))
         (name (completing-read (hive-words prompt)
                                (hive-read-or-handle
                                 (hive-read-table alist 'hive-session
                                                  (lambda (thing)
                                                    (format "  %s  %s"
                                                            (hive-text-line (plist-get thing :project) 24)
                                                            (hive-text-line (hive-model-handle thing) 24))))
                                 (mapcar #'hive-model-handle agents)))))
    (or (hive-model-handle (cdr (assoc name alist))) name)))

;;;; Drafts

;; Typed text stays a draft until the answer is in the outbox: the human may
;; leave the minibuffer, Emacs may end, or a later step may fail.

(autoload 'hive-compose-draft "hive-compose")
(autoload 'hive-compose-keep "hive-compose")
(autoload 'hive-draft-watch "hive-compose")
(autoload 'hive-draft-settings "hive-compose")
(autoload 'hive-draft-id "hive-compose")
(autoload 'hive-draft-with-options "hive-compose")
(autoload 'hive-draft-write "hive-compose")

(defvar hive-read-typed nil
  "The text typed for the answer that is being read; at first its draft, or nil.")

(defvar hive-read--keep #'ignore "The function that saves a text as the draft of what is being read.")

(defun hive-read--as-draft (prompt text)
  "Return TEXT if it can be a draft of an answer to PROMPT, else nil.
A text that chooses an option, or may permit something, cannot: RET alone
would send a draft that is in the minibuffer.  With PROMPT nil, it is a
message."
  (let ((answer (and prompt (hive-read-understood prompt text))))
    (unless (or (string-blank-p text)
                (plist-get answer :selected)
                (and prompt
                     (cl-some (lambda (one) (hive-permission-allows-p one answer))
                              (or (plist-get prompt :batch) (list prompt)))))
      text)))

(defun hive-read-with-draft (prompt answer &optional id options)
  "Let ANSWER, a function, read an answer to PROMPT, and send it.
Return what it returns.  If that is answered, delete the draft; else, or
if it fails or Emacs ends, what was typed is the draft.  ID is that of
the draft, if it is not that of PROMPT; with PROMPT nil, what is read is
a message.  With OPTIONS, a list of labels, words for them are read,
which have a draft of their own: it keeps the labels.  What was typed
without an option becomes that draft, unless there is one."
  (let* ((from (or id (plist-get prompt :ask_id)))
         (id (hive-draft-id from options))
         (settings (hive-draft-with-options options))
         (with (hive-draft-settings settings))
         (as-draft (lambda (text)
                     (if settings (unless (string-blank-p text) text)
                       (hive-read--as-draft prompt text))))
         (own (hive-compose-draft id))
         (draft (funcall as-draft (or own (hive-compose-draft from) "")))
         (known (or draft ""))
         (hive-read-typed draft)
         (hive-read--keep
          (lambda (text)
            (let ((text (cond ((string-blank-p text) "")
                              ((funcall as-draft text))
                              (t (or draft "")))))
              (when (and (not (equal text known))
                         (hive-draft-write id text (if own known "") (if (string-empty-p text) "" with) with))
                ;; If it was there without an option, it has moved.
                (unless own (hive-compose-keep from "" known))
                (setq known text own t)))))
         (done nil))
    (unwind-protect (setq done (funcall answer))
      (funcall hive-read--keep (if (eq done 'answered) "" (or hive-read-typed ""))))))

(defun hive-read-noted (read)
  "Call READ, and note what is typed in the minibuffer that it opens.
Until the minibuffer is left, it is saved like a draft in a buffer."
  (let* ((keep hive-read--keep) (minibuffer nil) (typed nil)
         ;; A command in another window may quit it: the hook runs in that buffer.
         (note (lambda ()
                 (when (buffer-live-p minibuffer)
                   (with-current-buffer minibuffer (setq typed (minibuffer-contents-no-properties)))))))
    (add-hook 'minibuffer-exit-hook note)
    (unwind-protect
        (minibuffer-with-setup-hook
            (lambda ()
              (setq word-wrap t minibuffer (current-buffer))
              (hive-draft-watch (lambda () (funcall keep (minibuffer-contents-no-properties)))))
          (funcall read))
      (remove-hook 'minibuffer-exit-hook note)
      (when (buffer-live-p minibuffer) (with-current-buffer minibuffer (hive-draft-watch nil)))
      (when typed (setq hive-read-typed typed)))))

(defun hive-read-words (line typed)
  "Read text with the prompt LINE and the initial input TYPED, and note it."
  (hive-read-noted (lambda () (read-string line typed 'hive-read-history))))

(defun hive-read-note (line id)
  "Read a text with the prompt LINE; if that is quit, it is the draft with ID."
  (let ((note nil))
    (hive-read-with-draft nil
      (lambda ()
        (setq note (hive-read-words line hive-read-typed))
        'answered)
      (concat id "-note"))
    note))

;;;; Reading an answer

(defun hive-read-prompt-line (prompt &optional what)
  "Return the minibuffer prompt for answering PROMPT, with WHAT in parentheses.
It begins with the :lead of PROMPT, if any, instead of the agent."
  (let ((agent (hive-text-agent prompt 30)))
    (concat (hive-permission-mark prompt)
            (cond ((plist-get prompt :lead))
                  ((member (plist-get prompt :status) '("expired" "cancelled"))
                   (hive-words 'late-answer-to agent))
                  (t (hive-words "%s asks: " agent)))
            (hive-text-line (plist-get prompt :question) 240)
            (if what (format " (%s)" what) "") " ")))

(defun hive-read--one (prompt-line table strict default &optional typed)
  "Read an entry of TABLE with PROMPT-LINE, or free text unless STRICT.
DEFAULT is what an empty answer means; TYPED is the initial input."
  (minibuffer-with-setup-hook
      (lambda ()
        (setq word-wrap t)
        ;; Free text may contain spaces and question marks.
        (use-local-map (hive-keymap :parent (current-local-map)
                                    "SPC" #'self-insert-command
                                    "?" #'self-insert-command)))
    (let ((completion-ignore-case t))
      (completing-read prompt-line table nil strict typed 'hive-read-history default))))

(defun hive-read--labels (options)
  "Return an alist of the displayed and the real labels of OPTIONS."
  (let (alist)
    (dolist (option (append options nil) (nreverse alist))
      (let* ((label (plist-get option :label))
             (shown (hive-text-line label)))
        (while (assoc shown alist) (setq shown (concat shown " ")))
        (push (cons shown label) alist)))))

(defun hive-read--meant (text alist)
  "Return the label in ALIST that TEXT names, ignoring case, or nil."
  (cdr (or (assoc text alist)
           (let ((same (cl-remove-if-not
                        (lambda (cell)
                          (string-equal (downcase (string-trim (car cell)))
                                        (downcase (string-trim text))))
                        alist)))
             (and same (null (cdr same)) (car same))))))

(defun hive-read--table (alist options &optional chosen)
  "Return a completion table of ALIST, lines and labels of OPTIONS.
A line without a label is something else that can be chosen.  CHOSEN is
a list of the labels that are chosen, if there can be several, or t."
  (hive-read-table
   alist 'hive-option
   (lambda (label)
     (let ((description (plist-get (hive-find :label label options) :description)))
       (list (cond ((not (and chosen label)) "")
                   ((and (consp chosen) (member label chosen)) "[x] ")
                   (t "[ ] "))
             (and description (concat "  " (hive-text-line description 120))))))))

(defun hive-read-template (line templates &optional typed)
  "Read one of TEMPLATES, or free text, with the prompt LINE.
TYPED is the initial input."
  (hive-read--one line (hive-read--table (mapcar #'list templates) nil) nil nil typed))

(defun hive-read--text (prompt)
  "Read an answer to PROMPT, which has no options."
  (let ((line (hive-read-prompt-line prompt)) (templates (hive-template-texts prompt)))
    (list :decision (if templates
                        (hive-read-noted
                         (lambda () (hive-read-template line templates hive-read-typed)))
                      (hive-read-words line hive-read-typed)))))

(defun hive-read--option (prompt)
  "Read one option of PROMPT, or free text where that is allowed.
Half an option counts only if the human confirms it."
  (let* ((options (plist-get prompt :options))
         (alist (hive-read--labels options))
         (free (hive-rpc-true-p prompt :allow_free_text))
         ;; Elsewhere, a draft could not be sent.
         (keep (if free #'hive-read-noted #'funcall))
         (templates (hive-template-texts prompt))
         (typed (and free hive-read-typed)) (meant nil))
    (while (not meant)
      (setq typed (funcall keep
                    (lambda ()
                      (hive-read--one
                       (hive-read-prompt-line prompt (hive-read--offer alist free))
                       (hive-read--table (append alist (mapcar #'list templates)) options)
                       (not free) nil typed)))
            meant (cond ((hive-read--meant typed alist) (hive-read--chosen typed alist))
                        ((or (not free) (member typed templates)
                             (plist-get (hive-read-understood prompt typed) :selected))
                         (hive-read--with-words prompt typed))
                        (t (hive-read--chosen (hive-read-meant typed (mapcar #'car alist))
                                              alist)))))
    meant))

(defun hive-read--chosen (text alist)
  "Return the answer that TEXT is, an option in ALIST or free text; or nil."
  (let ((label (and text (hive-read--meant text alist))))
    (cond (label (hive-read-chosen (list label)))
          (text (list :decision text)))))

(defun hive-read--with-words (prompt text)
  "Return the answer to PROMPT that TEXT means, or nil to edit TEXT.
If it may permit something at once, ask whether it is meant so."
  (let ((answer (hive-read-understood prompt text)))
    (and (or (not (plist-get answer :comment))
             (not (hive-permission-allows-p prompt answer))
             (hive-respond-undo-delay prompt answer)
             (y-or-n-p
              (hive-words "Answer \"%s\" with the comment \"%s\"? "
                          (hive-text-line (plist-get answer :decision) 40)
                          (hive-text-line (plist-get answer :comment) 80))))
         answer)))

(defun hive-read--offer (alist free)
  "Return the possible answers: the options in ALIST, and if FREE, free text."
  (concat (string-join (mapcar #'car alist) " / ") (if free (hive-words " / your own words") "")))

(defun hive-read--options (prompt)
  "Read several options of PROMPT, one after the other.
Each RET adds or removes one; an empty RET ends.  Free text becomes
the answer, or if options are chosen, a comment."
  (let* ((options (plist-get prompt :options))
         (alist (hive-read--labels options))
         (free (hive-rpc-true-p prompt :allow_free_text))
         (keep (if free #'hive-read-noted #'funcall))
         (chosen nil) (own nil) (typed (and free hive-read-typed)) (done nil))
    (while (not done)
      (let* ((names (mapconcat #'hive-text-line (reverse chosen) ", "))
             (finish (hive-words "[done: %s]" (if chosen names (hive-words "nothing chosen"))))
             (text (funcall keep
                     (lambda ()
                       (hive-read--one
                        (hive-read-prompt-line
                         prompt
                         (concat (hive-read--offer alist free)
                                 (if chosen (hive-words "; chosen: %s; empty RET sends" names)
                                   (hive-words "; RET adds one, empty RET sends"))))
                        (hive-read--table (cons (list finish) alist) options (or chosen t))
                        (not free) finish typed))))
             (ended (or (string-blank-p text) (equal text finish)))
             (meant (cond (ended nil)
                          ((hive-read--meant text alist) text)
                          (t (hive-read-meant
                              text (mapcar #'car alist)
                              (hive-words (if chosen
                                              "\"%s\" is not an option.  Send it as a comment? "
                                            "\"%s\" is not an option.  Send it as your answer? ")
                                          (hive-text-line text 40))))))
             (label (and meant (hive-read--meant meant alist))))
        (setq typed (unless (or ended meant) text))
        (cond (ended (setq done t))
              ((member label chosen) (setq chosen (delete label chosen)))
              (label (push label chosen))
              (meant (setq own meant done t)))))
    (append (list :decision (or own ""))
            (when chosen (list :selected (vconcat (reverse chosen))))
            (when (and chosen own) (list :comment own)))))

(defun hive-read-answer (prompt)
  "Read the answer to PROMPT.
Return a plist of :decision, :selected if options were chosen, and
:comment if there is one."
  (hive-read-with-details prompt
    (lambda ()
      (cond ((seq-empty-p (plist-get prompt :options)) (hive-read--text prompt))
            ((hive-rpc-true-p prompt :multi_select) (hive-read--options prompt))
            (t (hive-read--option prompt))))))

(provide 'hive-read)
;;; hive-read.el ends here
