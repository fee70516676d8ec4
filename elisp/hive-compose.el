;;; hive-compose.el --- Writing a long answer in a buffer  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; `hive-compose' opens a buffer for an answer that is too long for the
;; minibuffer.  The question and its context are above the answer; they are
;; read-only, and one key quotes from them.  Your text and the option that you
;; have chosen are saved as a draft, one file per question, so they survive a
;; crash.  Text that is typed in the minibuffer and not sent becomes a draft, too.
;; The drafts of shared buffers are kept in the same way.

;;; Code:

(require 'cl-lib)
(require 'hive-display)
(require 'hive-messages)
(require 'hive-model)
(require 'hive-notify)
(require 'hive-outbox)
(require 'hive-read)
(require 'hive-respond)
(require 'hive-rpc)
(require 'hive-shared-text)
(require 'hive-text)
(require 'json)
(require 'subr-x)

;;;; Options

(defcustom hive-drafts-directory (locate-user-emacs-file "hive/drafts/")
  "Where drafts of answers and messages are saved."
  :type 'directory
  :group 'hive)

;;;; Drafts

;; Two Emacs may have a draft of the same question, or of the same shared
;; buffer.  In its file each has a part of its own, with a page break between
;; them, and replaces only the part that it has read or saved.

(defun hive-compose--file (id)
  "Return the file of the draft with ID."
  ;; The id comes from the store; even so, keep it from naming another path.
  (expand-file-name (concat (replace-regexp-in-string "[^a-z0-9-]" "_" id) ".txt")
                    hive-drafts-directory))

(defun hive-compose-draft (id)
  "Return the draft with ID, that of a question or of a shared buffer, or nil."
  (let ((file (hive-compose--file id)))
    (when (and (file-regular-p file) (file-readable-p file))
      (with-temp-buffer
        (let ((coding-system-for-read 'utf-8-unix))
          (insert-file-contents file))
        (buffer-string)))))

(defconst hive-compose--break "\n\f\n" "The separator between the parts of a draft.")

(defun hive-compose--parts (draft)
  "Return the parts of DRAFT, one of each Emacs that has written to it."
  (split-string draft hive-compose--break t))

(defun hive-compose-keep (id text &optional known)
  "Save TEXT as the draft with ID; delete the draft if TEXT is blank.
With KNOWN, the text that was read or saved last, replace only that:
what another Emacs has saved since stays, before TEXT.
Return non-nil unless the disk is full: then the text stays in its
buffer, and the echo area says so."
  (let* ((file (hive-compose--file id))
         (there (or (hive-compose-draft id) ""))
         (own (and known (append (hive-compose--parts known) (hive-compose--parts text))))
         (others (and known (cl-remove-if (lambda (part) (member part own))
                                          (hive-compose--parts there))))
         (new (string-join (append others (unless (string-blank-p text) (list text)))
                           hive-compose--break)))
    (condition-case oops
        (progn
          (cond ((string-empty-p new) (when (file-exists-p file) (delete-file file)))
                ((not (equal new there)) (hive-text-write file new)))
          t)
      (file-error
       (hive-announce "Hive could not save your draft (%s); it exists only in its buffer"
                      (error-message-string oops))
       nil))))

(defun hive-compose--with-id (id)
  "Return the id under which the settings of the draft with ID are saved."
  (concat id "-with"))

(defun hive-draft-write (id text known with known-with)
  "Save TEXT as the draft with ID, and WITH as its settings, in JSON.
KNOWN and KNOWN-WITH are what was read or saved last.  Return as
`hive-compose-keep'."
  (and (hive-compose-keep (hive-compose--with-id id) with known-with)
       (hive-compose-keep id text known)))

(defun hive-draft-with (id)
  "Return the settings of the draft with ID, a plist, or nil.
They say how it is to be sent."
  (let ((saved (car (last (hive-compose--parts
                           (or (hive-compose-draft (hive-compose--with-id id)) ""))))))
    (and saved (ignore-errors (let ((json-object-type 'plist)) (json-read-from-string saved))))))

(defun hive-draft-settings (with)
  "Return WITH, the settings of a draft or nil, as the text that is saved."
  ;; `json-serialize' makes bytes in Emacs 30, and not every Emacs has it.
  (if with (json-encode with) ""))

(defun hive-draft-with-options (labels)
  "Return the settings of a draft that is sent with the options LABELS."
  (and labels (list :options (vconcat (mapcar #'hive-text-sendable labels)))))

(defun hive-draft-id (id labels)
  "Return the id of the draft of words that are sent with the options LABELS.
ID is that of the draft that is sent without options."
  (if labels (concat id "-option-" (secure-hash 'sha1 (hive-draft-settings (hive-draft-with-options labels))))
    id))

(defun hive-compose--ids (ask-id)
  "Return the ids of the drafts of answers to ASK-ID, the newest first."
  (let ((name (file-name-base (hive-compose--file ask-id))))
    (and (file-directory-p hive-drafts-directory)
         (mapcar (lambda (file) (concat ask-id (string-remove-prefix name (file-name-base (car file)))))
                 (sort (directory-files-and-attributes
                        hive-drafts-directory nil
                        (concat "\\`" (regexp-quote name) "\\(?:-option-[0-9a-f]+\\)?\\.txt\\'"))
                       (lambda (a b) (time-less-p (file-attribute-modification-time (cdr b))
                                                  (file-attribute-modification-time (cdr a)))))))))

;;;; Drafts in buffers

(defvar-local hive-compose--timer nil "The idle timer that will save the draft.")
(defvar-local hive-compose--keep nil "The function that saves the draft of this buffer, or nil.")
(defvar-local hive-compose--known nil
  "The draft of this buffer as it was read or saved last.
It is a list of its id, its text, its settings, and non-nil if this
buffer has saved it.")

(defun hive-draft-read (id)
  "Return the draft with ID, which this buffer will save, or nil."
  (let ((draft (hive-compose-draft id)))
    (setq hive-compose--known
          (list id (or draft "") (or (hive-compose-draft (hive-compose--with-id id)) "") nil))
    draft))

(defun hive-draft-keep (id text &optional with)
  "Save TEXT as the draft with ID of this buffer; return non-nil if it is on disk.
WITH is a plist of its settings, see `hive-draft-with'.  A draft that
was only read here, and has not changed, is not written."
  (pcase-let ((`(,known-id ,known-text ,known-with ,saved)
               (or hive-compose--known (list id "" "" nil)))
              (with (hive-draft-settings with)))
    (let ((moved (not (equal id known-id))))
      (or (and (not moved) (not saved) (equal text known-text) (equal with known-with))
          (and (hive-draft-write id text (if moved "" known-text) with (if moved "" known-with))
               (progn
                 (when moved (hive-draft-write known-id "" known-text "" known-with))
                 (setq hive-compose--known (list id text with t))))))))

(defun hive-draft-watch (keep)
  "Save the draft of this buffer with KEEP before it can be lost.
KEEP is a function that returns non-nil when the draft is on disk.  It
is called when the human pauses, and when the buffer or Emacs ends.
With nil, the draft is not saved any more."
  (when hive-compose--timer (cancel-timer hive-compose--timer))
  (setq hive-compose--keep keep
        hive-compose--timer nil)
  (cond (keep (add-hook 'after-change-functions #'hive-draft-changed nil t)
              (add-hook 'kill-buffer-hook #'hive-draft-save nil t))
        (t (remove-hook 'after-change-functions #'hive-draft-changed t)
           (remove-hook 'kill-buffer-hook #'hive-draft-save t))))

(defun hive-draft-changed (&rest _)
  "Save the draft of this buffer once the human pauses."
  (unless hive-compose--timer
    (setq hive-compose--timer
          (run-with-idle-timer 1 nil #'hive-call-in (current-buffer) #'hive-draft-save))))

(defun hive-draft-save ()
  "Save the draft of this buffer now; return non-nil if it is on disk."
  (when hive-compose--timer (cancel-timer hive-compose--timer))
  (setq hive-compose--timer nil)
  (and hive-compose--keep (funcall hive-compose--keep)))

(defun hive-compose--save-all ()
  "Save all drafts, as Emacs ends.
A minibuffer that is open is a buffer, too."
  (dolist (buffer (buffer-list))
    (when (buffer-local-value 'hive-compose--keep buffer)
      (hive-rpc-guarded #'hive-call-in buffer #'hive-draft-save))))

(add-hook 'kill-emacs-hook #'hive-compose--save-all)

;;;; The mode

(defvar-local hive-compose--prompt nil "The question that this buffer answers.")
(defvar-local hive-compose--begin nil "Where the answer begins, a marker.")
(defvar-local hive-compose--options nil "The labels of the options that are sent with the answer.")

(defun hive-compose-correction-id (ask-id)
  "Return the id of the draft of a correction of the answer to ASK-ID."
  (concat ask-id "-correction"))

(defun hive-compose-note-id (id)
  "Return the id of the draft of a comment on the draft with ID."
  (concat id "-note"))

(defun hive-compose--stored (entry _result)
  "Delete the drafts of the question that ENTRY has answered or corrected.
One that is open in a buffer stays."
  (let ((id (hive-outbox-entry-ask-id entry)))
    (when (and (member (hive-outbox-entry-method entry) '("hivemind-response" "prompt/amend"))
               (not (cl-some (lambda (buffer)
                               (equal id (plist-get (buffer-local-value 'hive-compose--prompt buffer) :ask_id)))
                             (buffer-list))))
      (dolist (one (list id (hive-compose-correction-id id)))
        (hive-compose-keep one "")
        (hive-compose-keep (hive-compose-note-id one) ""))
      (dolist (one (hive-compose--ids id))
        (hive-draft-write one "" nil "" nil)))))

(add-hook 'hive-outbox-stored-functions #'hive-compose--stored)

(defvar hive-compose-mode-map
  (hive-keymap :mode 'hive-compose-mode
               "C-c C-c" #'hive-compose-send
               "C-c C-k" #'hive-compose-put-aside
               "C-c C-q" #'hive-compose-quote
               "C-c C-t" #'hive-compose-insert-template
               "C-c C-o" #'hive-compose-choose)
  "Keymap of `hive-compose-mode'.")

(define-derived-mode hive-compose-mode text-mode "Hive-Answer"
  "Major mode for writing an answer.
\\<hive-compose-mode-map>\\[hive-compose-send] sends it; \\[hive-compose-put-aside] saves it as a draft and closes the buffer.
\\[hive-compose-quote] quotes the region, or the paragraph at point, from the
question above; \\[hive-compose-insert-template] inserts a template; \\[hive-compose-choose] chooses an option, and
your text becomes its comment."
  :interactive nil
  (hive-text-guard)
  (hive-wrap-words)
  (hive-draft-watch #'hive-compose--keep-answer)
  (add-hook 'kill-buffer-hook #'hive-compose--killed nil t)
  (add-hook 'hive-changed-hook #'hive-compose--refresh)
  (setq header-line-format '(:eval (hive-compose--header))))

(defun hive-compose--header ()
  "Return the header line: the keys, or that the question is closed."
  (let* ((prompt hive-compose--prompt)
         (fate (hive-respond-settled-since prompt)))
    (hive-text-literal
     (if fate
         (propertize (if (hive-respond-lost-p prompt)
                         (hive-words
                          " Already %s: your answer is not accepted; your text stays here."
                          fate)
                       (hive-words
                        " Already %s: your answer is stored as late; your text stays here."
                        fate))
                     'face 'hive-warning)
       (hive-compose--with-keys
        (concat " " (hive-permission-mark prompt)
                (string-trim-right
                 (if (hive-prompt-pending-p prompt)
                     (hive-words "To %s: " (hive-text-agent prompt 30))
                   (hive-words 'late-answer-to (hive-text-agent prompt 30)))
                 ": ")
                (if hive-compose--options
                    (hive-words " + %s" (hive-text-line (string-join hive-compose--options ", ") 30))
                  ""))
        (hive-words "  \\[hive-compose-send] sends  \\[hive-compose-put-aside] draft")
        (if (append (plist-get prompt :options) nil) (hive-words "  \\[hive-compose-choose] option") "")
        (hive-words "  \\[hive-compose-quote] quote")
        (hive-words "  \\[hive-compose-insert-template] template"))))))

(defun hive-compose--with-keys (line key &rest more)
  "Return LINE followed by KEY, and by those of MORE for which the window has room."
  (cl-flet ((with (text) (concat line (substitute-command-keys
                                       (concat "\\<hive-compose-mode-map>" text)))))
    (setq line (with key))
    (dolist (each more line)
      (when (<= (string-width (with each)) (window-width)) (setq line (with each))))))

;;;; The question above the answer

(defun hive-compose--above (prompt)
  "Return what is shown of PROMPT above the answer."
  (let ((options (mapconcat (lambda (option) (hive-text-line (plist-get option :label)))
                            (plist-get prompt :options) " / "))
        (context (plist-get prompt :context)))
    (cl-flet ((part (id &rest texts) (propertize (apply #'concat texts) 'hive-part id)))
      (concat (part 'question (propertize (hive-text-inert (plist-get prompt :question)) 'face 'bold) "\n")
              (part 'notes (mapconcat (lambda (note) (concat "\n" note "\n")) (hive-read-notes prompt) ""))
              (part 'context
                    (if context (concat "\n" (hive-text-trimmed (hive-text-inert context)) "\n") "")
                    (if (hive-rpc-true-p prompt :context_truncated) (hive-words 'context-loading) ""))
              (part 'options
                    (if (string-empty-p options) "" (concat "\n" (hive-words "Options: ") options "\n")))
              (part 'answer
                    "\n" (propertize
                          (hive-words "Your answer, below this line:") 'face 'hive-shadow) "\n")))))

(defun hive-compose--print (prompt)
  "Show PROMPT above the answer, in place of what was there."
  (unless hive-compose--begin (setq hive-compose--begin (point-min-marker)))
  (save-restriction
    (widen)
    (hive-text-keep-places
     (lambda ()
       (hive-shared-cut (point-min) (marker-position hive-compose--begin))
       ;; The answer, with point and the marker, comes after this text.
       (hive-shared-put (point-min)
                        (propertize (hive-compose--above prompt)
                                    'read-only t 'front-sticky '(read-only)
                                    'rear-nonsticky '(read-only face hive-part))
                        t))
     hive-compose--begin))
  ;; In a buffer narrowed to the question, the visible text was deleted.
  (when (= (point-min) (point-max)) (widen))
  (setq hive-compose--prompt prompt))

(defun hive-compose-text ()
  "Return the whole text of the answer in this buffer."
  (save-restriction
    (widen)
    (buffer-substring-no-properties (or hive-compose--begin (point-min)) (point-max))))

(defun hive-compose--fetch (buffer prompt)
  "Fetch all of PROMPT, and show it in BUFFER."
  (hive-read-fetch prompt (lambda (whole)
                            (hive-in-buffer buffer
                              (when hive-compose--prompt (hive-compose--print whole))))))

(defun hive-compose--refresh ()
  "Update the header line of each answer buffer, and show new notes."
  (dolist (buffer (hive-buffers 'hive-compose-mode))
    (with-current-buffer buffer
      (force-mode-line-update)
      (let ((now (and hive-compose--prompt
                      (hive-model-prompt (plist-get hive-compose--prompt :ask_id)))))
        (when (and now (not (equal (plist-get now :notes) (plist-get hive-compose--prompt :notes))))
          (hive-compose--fetch buffer now))))))

(defun hive-compose--keep-answer ()
  "Save the draft of the answer, with the options that are chosen."
  (when hive-compose--prompt
    (hive-draft-keep (hive-compose--id) (hive-compose-text)
                     (hive-draft-with-options hive-compose--options))))

(defun hive-compose--id ()
  "Return the id of the draft of this buffer."
  (hive-draft-id (plist-get hive-compose--prompt :ask_id) hive-compose--options))

(defun hive-compose--killed ()
  "Release the question, as the buffer is being killed.
If the draft cannot be saved, put it into the kill ring."
  (when hive-compose--prompt
    (hive-respond-release hive-compose--prompt)
    (unless (hive-draft-save) (kill-new (hive-compose-text)))))

;;;; Commands

(defun hive-compose (prompt)
  "Write an answer to PROMPT in a buffer of its own.
Refuse a question that is already answered, unless it has a draft."
  (let* ((id (plist-get prompt :ask_id))
         (kept (car (hive-compose--ids id)))
         (buffer (or (hive-buffer-of id 'hive-compose-mode 'hive-compose--prompt)
                     (progn
                       (unless kept (setq prompt (hive-respond-open prompt)))
                       (generate-new-buffer
                        (hive-words "*hive answer: %s – %s*" (hive-text-title prompt 16)
                                    (hive-text-line (plist-get prompt :question) 20)))))))
    (hive-respond-claim prompt)
    (with-current-buffer buffer
      (unless (derived-mode-p 'hive-compose-mode)
        (hive-compose-mode)
        (hive-compose--print prompt)
        (let ((draft (hive-draft-read (or kept id)))
              (options (plist-get (hive-draft-with (or kept id)) :options)))
          (when draft (insert draft))
          (setq hive-compose--options
                (delq nil (mapcar (lambda (option) (hive-read-label prompt option)) options))))
        (setq buffer-undo-list nil)
        (set-buffer-modified-p nil)
        (when (hive-rpc-true-p prompt :context_truncated) (hive-compose--fetch buffer prompt))))
    (pop-to-buffer buffer)))

(defun hive-compose-quote ()
  "Quote the region, or the paragraph at point, of the question above.
The lines are added to the end of your answer, each after a >."
  (interactive)
  (let* ((region (use-region-p))
         (begin (cond (region (region-beginning))
                      ((>= (point) hive-compose--begin) (hive-fail 'compose-nothing-to-quote))
                      (t (save-excursion (backward-paragraph) (point)))))
         (end (if region (region-end) (save-excursion (forward-paragraph) (point))))
         (text (string-trim (buffer-substring-no-properties begin (min end hive-compose--begin)))))
    (when (string-empty-p text) (hive-fail 'compose-nothing-to-quote))
    (deactivate-mark)
    (widen)
    (goto-char (point-max))
    (unless (bolp) (insert "\n"))
    (insert (replace-regexp-in-string "^" "> " text) "\n")))

(defun hive-compose-insert-template (text)
  "Insert TEXT, one of your `hive-reply-templates', at point or at the end."
  (interactive
   (list (completing-read (hive-words 'which-template)
                          (or (hive-template-texts hive-compose--prompt)
                              (hive-fail
                               "You have no templates for this question; customize `hive-reply-templates'"))
                          nil t)))
  (when (< (point) hive-compose--begin)
    (widen)
    (goto-char (point-max)))
  (insert text))

(defun hive-compose-choose (label)
  "Answer with the option LABEL; your text becomes a comment on it.
With an empty LABEL, your text is the answer itself."
  (interactive
   (list (completing-read (hive-words "Option to send with your text (empty for none): ")
                          (or (hive-values :label (plist-get hive-compose--prompt :options))
                              (hive-fail 'compose-no-options))
                          nil t)))
  (setq hive-compose--options (unless (string-empty-p label) (list label)))
  (hive-draft-changed)
  (force-mode-line-update))

(defun hive-compose-send ()
  "Send the answer; it is on disk before you read \"queued\"."
  (interactive)
  (let* ((text (string-trim (hive-compose-text)))
         (prompt hive-compose--prompt)
         (options hive-compose--options)
         (answer (if options (hive-read-chosen options (unless (string-empty-p text) text))
                   (list :decision text))))
    (when (and (string-empty-p text) (null options))
      (hive-fail 'no-answer (hive-respond-still prompt)))
    (when options (hive-respond-confirm prompt answer))
    (hive-respond-send prompt answer)
    (hive-draft-keep (hive-compose--id) "")
    (setq hive-compose--prompt nil)     ; do not save the draft again
    (quit-window t)))

(defun hive-compose-put-aside ()
  "Save the text as a draft and close the buffer."
  (interactive)
  ;; M-x offers it everywhere, and another buffer is not to be closed.
  (unless hive-compose--prompt (hive-fail "This is not the buffer of an answer"))
  ;; If that fails, the text exists only here.
  (when (hive-draft-save)
    (let ((prompt hive-compose--prompt)
          (empty (and (null hive-compose--options) (string-blank-p (hive-compose-text)))))
      (quit-window t)
      (hive-say (if empty 'no-answer "Draft saved; %s") (hive-respond-still prompt)))))

(provide 'hive-compose)
;;; hive-compose.el ends here
