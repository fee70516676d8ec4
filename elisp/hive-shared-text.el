;;; hive-shared-text.el --- Messages as text  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; The format of messages in files and shared buffers, and how a message is
;; displayed.
;;
;; `hive-shared-put' and `hive-shared-cut' are the only functions that change
;; a shared buffer on behalf of Hive.  Their changes are not edits: they are
;; not recorded for undo, they run no hooks and keep point, mark and selection;
;; the human's own undo records are adjusted.

;;; Code:

(require 'cl-lib)
(require 'hive-links)
(require 'hive-markdown)
(require 'hive-messages)
(require 'hive-names)
(require 'hive-text)
(require 'pcase)
(require 'subr-x)

;;;; The format: writing

;; A message in a shared buffer is a block:
;;
;;     ## 2026-01-11 18:00:00 Claude-abc12
;;
;;     @Claude-def34 The login is done.  Could you review it?
;;
;; The command "hive messages --format shared" writes the same format.  Parsing
;; a rendered message returns that message.

(defconst hive-shared-text--space
  " \t\n\r\f\v\u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000\uFEFF"
  "White space in a character alternative, as in the sidecar's parser.")

(defconst hive-format-heading
  (concat "\\`## \\([0-9]\\{4\\}-[0-9][0-9]-[0-9][0-9] [0-9][0-9]:[0-9][0-9]:[0-9][0-9]\\) "
          "\\([^" hive-shared-text--space "]+\\)\\([^\n\r]*\\)\\'")
  "A line that begins a block: its time, its handle, and the rest.")

(defconst hive-shared-text--like-heading
  (concat "\\`\\\\*## [0-9]\\{4\\}-[0-9][0-9]-[0-9][0-9] [0-9][0-9]:[0-9][0-9]:[0-9][0-9] "
          "[^" hive-shared-text--space "]")
  "A line of a body that looks like a heading.")

(defconst hive-format-shortest (length "## 2026-01-11 18:00:00 A\nb")
  "The smallest length of a block, in characters.")

(defun hive-format-stamp (time)
  "Return TIME from the sidecar in the format of headings, in the local zone."
  (hive-text-local time "%F %T"))

(defun hive-format-body (body)
  "Return BODY with lines that look like headings escaped."
  (if (string-search "## " body)
      (mapconcat (lambda (line)
                   (if (string-match-p hive-shared-text--like-heading line)
                       (concat "\\" line)
                     line))
                 (split-string body "\n") "\n")
    body))

(defun hive-format-block (stamp handle body)
  "Return the block of a message: its STAMP, its author's HANDLE, its BODY."
  (concat "## " stamp " " handle "\n\n" (hive-format-body body) "\n"))

(defun hive-format-message (message)
  "Return the block of MESSAGE, a plist.
The heading names its author, even if it was posted under another name."
  (hive-format-block (hive-format-stamp (plist-get message :at))
                     (hive-text-line (plist-get message :from_handle))
                     (plist-get message :body)))

(defun hive-format-front (created project)
  "Return the beginning of a file, CREATED at a stamp, of PROJECT or nil."
  (concat "---\nhive: true\ntype: shared\ncreated_at: "
          (string-replace " " "T" created) "\n"
          (if project (format "project: %s\n" (hive-text-line project)) "")
          "---\n\n# Shared Buffer\n\n" hive-format-introduction "\n"))

;;;; The format: parsing

(defun hive-format-normalize (body)
  "Return BODY as it is stored.
Line ends are newlines; blank lines around it and blanks at its end
are removed."
  (let* ((body (replace-regexp-in-string "\r\n?" "\n" body t t))
         (first (or (string-match "[^ \t\n]" body) (length body)))
         (start (1+ (or (cl-position ?\n body :end first :from-end t) -1)))
         (end (length body))
         (blank (concat "[" hive-shared-text--space "]")))
    (while (and (> end start) (string-match-p blank (substring body (1- end) end)))
      (setq end (1- end)))
    (substring body start end)))

(defun hive-shared-text--unescape (line)
  "Return LINE of a body without the backslash that escapes a heading."
  (if (and (string-prefix-p "\\" line) (string-match-p hive-shared-text--like-heading line))
      (substring line 1)
    line))

(defun hive-format-parse (text)
  "Return the blocks in TEXT, in order, as plists.
Each has :stamp, :handle and :body, and the offsets in TEXT of its
heading, :beg, and of the next one, :end.  Text before the first
heading is not a block, nor is a heading without a body."
  (let ((pos 0) (length (length text)) (blocks nil) (heading nil) (body nil))
    (cl-flet ((finish (end)
                (when heading
                  (let ((whole (hive-format-normalize (string-join (nreverse body) "\n"))))
                    (unless (string-empty-p whole)
                      (push (append heading (list :body whole :end end)) blocks))))))
      (while (<= pos length)
        (let* ((break (string-match "\r\n\\|[\n\r]" text pos))
               (next (if break (match-end 0) (1+ length)))
               (line (substring text pos break)))
          (if (not (string-match hive-format-heading line))
              (push (hive-shared-text--unescape line) body)
            (let ((stamp (match-string-no-properties 1 line))
                  (handle (match-string-no-properties 2 line))
                  (more (string-trim (match-string 3 line))))
              (finish pos)
              (setq heading (list :stamp stamp :handle handle :beg pos)
                    ;; Text after the handle is part of the body.
                    body (unless (string-empty-p more) (list more)))))
          (setq pos next)))
      (finish length))
    (nreverse blocks)))

;;;; Adjusting the undo list

;; A shared buffer changes above the text that the human is writing.  These
;; changes are not recorded for undo; but the records of the human's own edits
;; contain positions, which must be adjusted.
;;
;; `buffer-undo-list' goes from the newest edit to the oldest, and the
;; positions in a record are those right after that edit.  So the position of
;; the foreign text is traced back through the records one by one.  Records
;; are changed in place, since an undo under way holds a tail of the same list.

(defconst hive-shared-text--nothing '(apply cdr nil)
  "A record that does nothing; Emacs itself uses it.")

(defun hive-shared-text--cut (cell)
  "Drop the record in CELL and all older ones: they cannot be adjusted."
  (let ((list buffer-undo-list))
    (if (eq list cell)
        (setq buffer-undo-list nil)
      (while (not (eq (cdr list) cell)) (setq list (cdr list)))
      (setcdr list nil)))
  (hive-shared-text--drop-pending cell))

(defun hive-shared-text--drop-pending (list)
  "End an undo under way in a tail of LIST."
  (when (consp pending-undo-list)
    (while (and list (not (eq list pending-undo-list))) (setq list (cdr list)))
    (when list (setq pending-undo-list t))))

(defun hive-shared-text--walk (function)
  "Call FUNCTION with each cons of the undo list, newest first.
It returns `done' to stop, or `lost' if its record and the older ones
cannot be adjusted."
  (unless (eq buffer-undo-list t)
    ;; The list of an undo in a region is a copy that cannot be found.
    (when (and undo-in-region (consp pending-undo-list))
      (setq pending-undo-list t))
    (let ((cell buffer-undo-list))
      (while (consp cell)
        (let ((next (cdr cell)))
          (pcase (funcall function cell)
            ('done (setq next nil))
            ('lost (hive-shared-text--cut cell)
                   (setq next nil)))
          (setq cell next))))))

(defun hive-shared-text--sign (like position)
  "Return POSITION with the sign of LIKE."
  (if (< like 0) (- position) position))

(defun hive-undo-inserted (at length)
  "Adjust the undo list to LENGTH characters inserted at AT, unrecorded.
Text that was at AT now comes after them."
  (hive-shared-text--walk
   (lambda (cell)
     (pcase (car cell)
       ((and (pred integerp) point)
        (when (>= point at) (setcar cell (+ point length)))
        nil)
       (`(,(and (pred integerp) beg) . ,(and (pred integerp) end))
        ;; An insertion; before it, AT may have been smaller.
        (cond ((>= beg at) (setcar cell (cons (+ beg length) (+ end length))))
              ((<= end at) (setq at (- at (- end beg))))
              (t (setcar cell (cons beg (+ end length)))
                 (setq at beg)))
        nil)
       (`(,(and (pred stringp) text) . ,(and (pred integerp) pos))
        (if (< (abs pos) at)
            (setq at (+ at (length text)))
          (setcar cell (cons text (hive-shared-text--sign pos (+ (abs pos) length)))))
        nil)
       (`(nil ,property ,value ,beg . ,end)
        (setcar cell `(nil ,property ,value
                           ,(if (>= beg at) (+ beg length) beg)
                           . ,(if (> end at) (+ end length) end)))
        nil)
       ((pred (equal hive-shared-text--nothing)) nil)
       (`(apply . ,_) 'lost)))))

(defun hive-undo-deleted (beg end)
  "Adjust the undo list to the unrecorded deletion of BEG to END.
Records about that text are dropped."
  (let ((orphans nil))
    (cl-flet ((follow (pos)
                (cond ((<= pos beg) pos)
                      ((>= pos end) (- pos (- end beg)))
                      (t beg))))
      (hive-shared-text--walk
       (lambda (cell)
         (pcase (car cell)
           ((guard (= beg end)) 'done)
           ((and (pred integerp) point) (setcar cell (follow point)) nil)
           (`(,(and (pred integerp) from) . ,(and (pred integerp) to))
            (let ((new-from (follow from)) (new-to (follow to)))
              (setcar cell (if (= new-from new-to) hive-shared-text--nothing
                             (cons new-from new-to))))
            ;; Before that insertion, the text was shorter.
            (cl-flet ((earlier (pos)
                        (cond ((<= pos from) pos)
                              ((>= pos to) (- pos (- to from)))
                              (t from))))
              (setq beg (earlier beg) end (earlier end)
                    orphans nil))
            nil)
           (`(,(and (pred stringp) text) . ,(and (pred integerp) pos))
            (let ((place (abs pos)) (length (length text)))
              (setq orphans (< beg place end))
              (cond (orphans (setcar cell hive-shared-text--nothing)
                             (setq end (+ end length)))
                    ((<= place beg) (setq beg (+ beg length) end (+ end length)))
                    (t (setcar cell (cons text (hive-shared-text--sign pos (follow place)))))))
            nil)
           (`(,(pred markerp) . ,_)
            ;; It belongs to the deletion before it in the list.
            (when orphans (setcar cell hive-shared-text--nothing))
            nil)
           (`(nil ,property ,value ,from . ,to)
            (let ((new-from (follow from)) (new-to (follow to)))
              (setcar cell (if (= new-from new-to) hive-shared-text--nothing
                             `(nil ,property ,value ,new-from . ,new-to))))
            nil)
           ((pred (equal hive-shared-text--nothing)) nil)
           (`(apply . ,_) 'lost)))))))

;;;; Faces

(defgroup hive-shared nil
  "Shared buffers, in which agents and you talk."
  :group 'hive)

(defface hive-shared-heading '((t :inherit font-lock-function-name-face))
  "The heading of a message." :group 'hive-faces)

(defface hive-shared-human-heading '((t :inherit font-lock-keyword-face))
  "The heading of a message of a human." :group 'hive-faces)

(defface hive-shared-unverified-heading '((t :inherit (italic hive-warning)))
  "The heading of a message whose author did not prove their name." :group 'hive-faces)

(defface hive-shared-mention '((t :inherit hive-success))
  "A mention of somebody." :group 'hive-faces)

(defface hive-shared-mention-nobody '((t :inherit hive-shadow))
  "An @ with a name that nobody has." :group 'hive-faces)

(defface hive-shared-mention-human '((t :inherit (bold hive-warning)))
  "A mention of you." :group 'hive-faces)

(defface hive-shared-new '((t :inherit hive-warning))
  "The line above what is new since you looked." :group 'hive-faces)

(defface hive-shared-note '((t :inherit hive-shadow))
  "Notes that Hive adds to a heading; they are not part of the message." :group 'hive-faces)

(defface hive-shared-rule '((t :inherit hive-shadow :extend t))
  "The line below which you write." :group 'hive-faces)

;;;; Changing the buffer

(defmacro hive-shared-silently (&rest body)
  "Run BODY; what it does to the buffer does not count as an edit."
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
  "Insert TEXT at POS, before the text there.
With BEFORE-MARKERS, also before point, mark and windows there."
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

;;;; Displaying a message

(defconst hive-shared-text--mention
  "\\(?:^\\|[] \t*_~([{<\"',;:!?|>)}]\\|[^[:ascii:]]\\)\\(@\\([[:alnum:]][[:alnum:]_-]*\\)\\)"
  "A regexp for mentions; the sidecar decides, this is for colours.")

(defconst hive-shared-text--most-colours 1000
  "How many mentions of a message get a face; Emacs is slow with more.")

(defvar hive-shared-names (make-hash-table :test #'equal)
  "The names, in lower case, that anybody has had since Hive was turned on.
An agent that has ended was really mentioned, so names are only added.")

(defun hive-shared-learn (names)
  "Note that somebody is known by each of NAMES; return those that are new."
  (cl-loop for name in names for key = (and name (downcase name))
           when (and key (not (gethash key hive-shared-names)))
           do (puthash key t hive-shared-names) and collect key))

(defun hive-shared-mention-face (name)
  "Return the face of an @ with NAME, which is in lower case."
  (cond ((equal "human" name) 'hive-shared-mention-human)
        ((or (equal "all" name) (gethash name hive-shared-names)) 'hive-shared-mention)
        (t 'hive-shared-mention-nobody)))

(defun hive-shared--colour-line (line most)
  "Add faces to the first MOST mentions in LINE, and return how many it has."
  (let ((pos 0) (ticks 0) (found 0))
    (while (and (< found most) (string-match hive-shared-text--mention line pos))
      (let ((beg (match-beginning 1)) (end (match-end 1))
            (name (downcase (match-string-no-properties 2 line))))
        (setq ticks (+ ticks (cl-count ?` (substring line pos beg)))
              found (1+ found)
              pos end)
        ;; Inline code mentions nobody.
        (when (cl-evenp ticks)
          (add-text-properties beg end (list 'font-lock-face (hive-shared-mention-face name)
                                             'hive-name name)
                               line)
          (when (equal "human" name) (put-text-property beg end 'hive-mention 'human line)))))
    found))

(defun hive-shared--colour (body)
  "Return BODY, inert text, with faces for its mentions.
Code blocks and quoted lines mention nobody."
  (let ((lines (split-string body "\n")) (left hive-shared-text--most-colours) done fence line)
    (when (string-search "@" body)
      (while (and lines (> left 0))
        (setq line (pop lines))
        (push line done)
        (cond ((string-match "\\` \\{0,3\\}\\(```+\\|~~~+\\)" line)
               (let ((mark (match-string 1 line)))
                 (cond ((null fence) (setq fence mark))
                       ((string-prefix-p fence mark) (setq fence nil)))))
              ((or fence (not (string-search "@" line))
                   (string-match-p "\\` \\{0,3\\}>\\|\\`\\(?:    \\|\t\\)" line)))
              (t (setq left (- left (hive-shared--colour-line line left)))))))
    (string-join (nconc (nreverse done) lines) "\n")))

(defun hive-shared--body (message)
  "Return the body of MESSAGE, inert, with faces for its Markdown and its mentions."
  (with-temp-buffer
    ;; Without a number of columns, tables stay as they are: the text is what is stored.
    (hive-markdown-insert (hive-format-body (hive-text-inert (plist-get message :body))))
    (let ((pos (point-min)))
      ;; Font Lock removes the property `face'.
      (while (< pos (point-max))
        (let ((next (next-single-property-change pos 'face nil (point-max)))
              (face (get-text-property pos 'face)))
          (when face (put-text-property pos next 'font-lock-face face))
          (setq pos next)))
      (remove-list-of-text-properties (point-min) (point-max) '(face)))
    (hive-shared--colour (buffer-string))))

(defun hive-shared-activate (beg end)
  "Make the addresses between BEG and END, in messages, buttons."
  (hive-shared-silently (hive-links-activate beg end)))

(defvar hive-shared-heading-map (hive-keymap "RET" 'hive-shared-reply)
  "Keymap on the heading of a message.")

(defun hive-shared-heading-face (message)
  "Return the face for the heading of MESSAGE, or of a mention."
  (pcase (plist-get message :author)
    ("human" 'hive-shared-human-heading)
    ("unverified" 'hive-shared-unverified-heading)
    (_ 'hive-shared-heading)))

(defun hive-shared-message-text (message)
  "Return the text that displays MESSAGE, a plist.
Every character has MESSAGE as its property `hive-message'; text typed
next to it does not inherit that."
  (let* ((heading (format "## %s %s" (hive-format-stamp (plist-get message :at))
                          (hive-text-line (plist-get message :from_handle) 80))))
    (propertize
     (concat (propertize heading
                         'font-lock-face (hive-shared-heading-face message)
                         'keymap hive-shared-heading-map
                         'hive-heading t
                         'help-echo (if (equal "unverified" (plist-get message :author))
                                        (hive-words "Posted under a name that was not verified")
                                      (hive-words "RET replies to this message")))
             "\n\n" (hive-shared--body message) "\n\n")
     'hive-message message
     'rear-nonsticky t)))

(defconst hive-shared-properties
  '(hive-message hive-mention hive-name hive-heading hive-edge font-lock-face keymap
                 display help-echo mouse-face invisible read-only rear-nonsticky
                 hive-diff line-prefix wrap-prefix
                 button category follow-link action hive-address hive-host)
  "The properties of displayed messages, which copies do not have.")

(defun hive-shared-plain (text)
  "Return TEXT without `hive-shared-properties'."
  (remove-list-of-text-properties 0 (length text) hive-shared-properties text)
  text)

(defun hive-shared-thread-of (message)
  "Return the thread that MESSAGE is in, or begins."
  (or (plist-get message :thread) (plist-get message :message_id)))

;;;; Notes after a heading

(defun hive-shared--button (label help command)
  "Return LABEL as a button with HELP, to call COMMAND on its message."
  (propertize label 'face 'link 'mouse-face 'highlight 'help-echo help
              'keymap (hive-keymap "<mouse-1>" (lambda (event)
                                                 (interactive "e")
                                                 (mouse-set-point event)
                                                 (call-interactively command)))))

(defun hive-shared--marks (message parent)
  "Return the properties of MESSAGE to note, as short strings.
It replies to PARENT, if that is not nil."
  (let ((as (plist-get message :as_handle))
        (title (plist-get message :agent_title))
        (thread (plist-get message :thread)))
    (delq nil
          (list (when (and title (not (equal title (plist-get message :from_handle))))
                  (hive-text-line title 40))
                (when (plist-get message :by) (hive-text-line (plist-get message :by) 40))
                (when (and as (not (equal as (plist-get message :from_handle))))
                  (hive-words 'mark-as (hive-text-line as 40)))
                (when (equal "urgent" (plist-get message :priority)) (hive-words 'mark-urgent))
                (when (eq t (plist-get message :expects_reply)) (hive-words 'mark-expects-reply))
                (cond (parent (hive-words "reply to %s: %s" (hive-text-author parent 20)
                                          (hive-text-line (plist-get parent :body) 30)))
                      ((plist-get message :reply_to) (hive-words "reply")))
                (when (and thread (not (string-prefix-p "msg-" thread)))
                  (hive-words 'target-thread (hive-text-line thread 40)))))))

(defun hive-shared-note (message open &optional parent)
  "Return the note after the heading of MESSAGE, or nil.
OPEN means that it has an open mention of the human.  PARENT is the
message that it replies to, if that is shown."
  (let ((marks (hive-shared--marks message parent)))
    (when (or marks open)
      (concat
       (when marks (propertize (concat "  (" (string-join marks ", ") ")")
                               'face 'hive-shared-note))
       (when open
         (concat "  " (hive-shared--button (hive-words "[reply]")
                                           (hive-words "Reply to this mention of you")
                                           'hive-shared-reply)
                 " " (hive-shared--button (hive-words "[done]")
                                          (hive-words "Mark this mention done")
                                          'hive-shared-done)))))))

(provide 'hive-shared-text)
;;; hive-shared-text.el ends here
