;;; hive-shared-text.el --- What a shared buffer shows, as text  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; How a message looks, and the only two ways in which a shared buffer is
;; changed by anybody but the human: `hive-shared-put' and `hive-shared-cut'.
;; They are no edits: nothing is recorded for undo, no hook is run, point,
;; mark and selection stay, and the human's own undo follows.

;;; Code:

(require 'cl-lib)
(require 'hive-shared-format)
(require 'hive-text)
(require 'hive-undo)
(require 'hive-wrap)

(defgroup hive-shared nil
  "Shared buffers, in which agents and you talk."
  :group 'hive)

(defface hive-shared-heading '((t :inherit font-lock-function-name-face))
  "The heading of a message.")

(defface hive-shared-human-heading '((t :inherit font-lock-keyword-face))
  "The heading of a message of a human.")

(defface hive-shared-unverified-heading '((t :inherit (italic warning)))
  "The heading of a message whose author did not prove their name.")

(defface hive-shared-mention '((t :inherit font-lock-type-face))
  "A mention of somebody.")

(defface hive-shared-mention-human '((t :inherit (bold warning)))
  "A mention of you.")

(defface hive-shared-note '((t :inherit shadow))
  "What Hive adds to a heading: it is shown, and no part of the message.")

(defface hive-shared-rule '((t :inherit shadow :extend t))
  "The line below which you write.")

;;;; Changing the buffer

(defmacro hive-shared-silently (&rest body)
  "Run BODY, and let nobody take what it does to the buffer for an edit."
  (declare (indent 0) (debug t))
  (let ((modified (make-symbol "modified")))
    `(let ((,modified (buffer-modified-p))
           (deactivate-mark nil)
           (inhibit-read-only t)
           (inhibit-modification-hooks t))
       (save-excursion
         (save-restriction
           (widen)
           (let ((buffer-undo-list t)) ,@body)))
       (restore-buffer-modified-p ,modified))))

(defun hive-shared-put (pos text &optional before-markers)
  "Insert TEXT at POS; what stood there stands behind it.
With BEFORE-MARKERS, so do point, mark and windows that were there."
  (hive-shared-silently
    (goto-char pos)
    (if before-markers (insert-before-markers text) (insert text)))
  (hive-wrap-heed pos (+ pos (length text)))
  (hive-undo-inserted pos (length text)))

(defun hive-shared-cut (beg end)
  "Delete the text from BEG to END."
  (when (< beg end)
    (hive-shared-silently (delete-region beg end))
    (hive-undo-deleted beg end)))

;;;; A message

(defconst hive-shared--mention
  "\\(?:^\\|[] \t*_~([{<\"',;:!?|>)}]\\|[^[:ascii:]]\\)\\(@\\([[:alnum:]][[:alnum:]_-]*\\)\\)"
  "What looks like a mention.  The sidecar decides; this only colours.")

(defun hive-shared--colour-line (line)
  "Give the mentions in LINE their faces."
  (let ((pos 0) (ticks 0))
    (while (string-match hive-shared--mention line pos)
      (let ((beg (match-beginning 1)) (end (match-end 1))
            (human (equal "human" (downcase (match-string 2 line)))))
        (setq ticks (+ ticks (cl-count ?` (substring line pos beg)))
              pos end)
        ;; Inside inline code an @ calls nobody.
        (when (cl-evenp ticks)
          (put-text-property beg end 'font-lock-face
                             (if human 'hive-shared-mention-human 'hive-shared-mention)
                             line)
          (when human (put-text-property beg end 'hive-mention 'human line)))))
    line))

(defun hive-shared--colour (body)
  "Return BODY, inert text, with the faces of its mentions.
Code fences and quoted lines mention nobody."
  (if (not (string-search "@" body))
      body
    (let ((fence nil))
      (mapconcat
       (lambda (line)
         (cond ((string-match "\\` \\{0,3\\}\\(```+\\|~~~+\\)" line)
                (let ((mark (match-string 1 line)))
                  (cond ((null fence) (setq fence mark))
                        ((string-prefix-p fence mark) (setq fence nil))))
                line)
               ((or fence (string-match-p "\\` \\{0,3\\}>\\|\\`\\(?:    \\|\t\\)" line)) line)
               (t (hive-shared--colour-line line))))
       (split-string body "\n") "\n"))))

(defvar hive-shared-heading-map (make-sparse-keymap)
  "Keymap on the heading of a message.")

(defun hive-shared-heading-face (message)
  "Return the face of the heading of MESSAGE, or of a mention, by its author."
  (pcase (plist-get message :author)
    ("human" 'hive-shared-human-heading)
    ("unverified" 'hive-shared-unverified-heading)
    (_ 'hive-shared-heading)))

(defun hive-shared-message-text (message)
  "Return what is shown of MESSAGE, a plist.
Every character carries MESSAGE itself as its property
`hive-message'; text that is typed beside it does not inherit it."
  (let* ((heading (format "## %s %s" (hive-format-stamp (plist-get message :at))
                          (hive-text-line (plist-get message :from_handle) 80)))
         (body (hive-format-body (hive-text-inert (plist-get message :body)))))
    (propertize
     (concat (propertize heading
                         'font-lock-face (hive-shared-heading-face message)
                         'keymap hive-shared-heading-map
                         'hive-heading t
                         'help-echo (if (equal "unverified" (plist-get message :author))
                                        "Posted under a name that its author did not prove"
                                      "RET: answer"))
             "\n\n" (hive-shared--colour (substring body 0)) "\n\n")
     'hive-message message
     'rear-nonsticky t)))

(defconst hive-shared-properties
  '(hive-message hive-mention hive-heading hive-edge font-lock-face keymap
                 display help-echo mouse-face invisible read-only rear-nonsticky)
  "The properties of shown text; a copy of it has none of them.")

(defun hive-shared-plain (text)
  "Return TEXT without the properties of shown text."
  (remove-list-of-text-properties 0 (length text) hive-shared-properties text)
  text)

(defun hive-shared-thread-of (message)
  "Return the name of the thread that MESSAGE is in, or begins."
  (or (plist-get message :thread) (plist-get message :message_id)))

;;;; What is said beside the heading

(defun hive-shared--button (label help command)
  "Return LABEL as a button with HELP, to run COMMAND on its message."
  (let ((map (make-sparse-keymap)))
    (define-key map [mouse-1]
                (lambda (event)
                  (interactive "e")
                  (mouse-set-point event)
                  (call-interactively command)))
    (propertize label 'face 'link 'mouse-face 'highlight 'help-echo help 'keymap map)))

(defun hive-shared--marks (message)
  "Return what MESSAGE is besides its author and time, as short strings."
  (let ((as (plist-get message :as_handle))
        (thread (plist-get message :thread)))
    (delq nil
          (list (when (and as (not (equal as (plist-get message :from_handle))))
                  (concat "as " (hive-text-line as 40)))
                (when (equal "urgent" (plist-get message :priority)) "urgent")
                (when (eq t (plist-get message :expects_reply)) "wants an answer")
                (when (plist-get message :reply_to) "reply")
                (when (and thread (not (string-prefix-p "msg-" thread)))
                  (concat "in " (hive-text-line thread 40)))))))

(defun hive-shared-note (message open)
  "Return what is shown behind the heading of MESSAGE, or nil.
OPEN means that it mentions the human, who has not dealt with it."
  (let ((marks (hive-shared--marks message)))
    (when (or marks open)
      (concat
       (when marks (propertize (concat "  (" (string-join marks ", ") ")")
                               'face 'hive-shared-note))
       (when open
         (concat "  " (hive-shared--button "[answer]" "Answer this mention of you"
                                           'hive-shared-reply)
                 " " (hive-shared--button "[done]" "You have dealt with this mention"
                                          'hive-shared-done)))))))

(provide 'hive-shared-text)
;;; hive-shared-text.el ends here
