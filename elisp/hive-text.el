;;; hive-text.el --- Text from agents, made harmless  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Text from agents is untrusted (design, invariant 12).  Everything that is
;; shown goes through `hive-text-inert' or `hive-text-line', and everything
;; that is sent through `hive-text-sendable'.
;;
;; Also: names of agents, times and ages, and wrapping of long lines.

;;; Code:

(require 'button)
(require 'cl-lib)
(require 'hive-messages)
(require 'hive-names)
(require 'iso8601)
(require 'seq)
(require 'subr-x)

;;;; Wrapping long lines

;; Lines are wrapped between words, and continuation lines are indented like
;; the line.  The text itself does not change.

(defconst hive-text--deepest 16 "The largest indentation of continuation lines, in columns.")

(defconst hive-text--right-to-left "[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC]")

(defconst hive-text--longest 500
  "The longest right-to-left line that is wrapped between words.
The time that Emacs needs grows with the square of the length: 0.1 s
for 1,000 characters, 3 s for 8,000.")

(defconst hive-text--reordered 4000
  "The longest right-to-left line that is displayed from right to left.
20,000 characters take Emacs 20 s, even if they are wrapped anywhere.")

(defun hive-wrap-words ()
  "Wrap the lines of this buffer between words, in windows of any width."
  (setq-local truncate-lines nil
              truncate-partial-width-windows nil
              word-wrap t))

(defun hive-wrap-heed (beg end)
  "Display this buffer more simply if a line in BEG to END is slow otherwise.
It is then wrapped anywhere, and where a line is longer still, its text
is in the order in which it was written."
  (save-excursion
    (goto-char beg)
    (while (and bidi-display-reordering (< (point) end))
      (let ((length (- (line-end-position) (point))))
        (when (and (> length hive-text--longest)
                   (save-excursion
                     (re-search-forward hive-text--right-to-left (line-end-position) t)))
          (setq-local word-wrap nil)
          (when (> length hive-text--reordered) (setq-local bidi-display-reordering nil))))
      (forward-line 1))))

(defun hive-wrap-like-lines (beg end)
  "Indent continuation lines between BEG and END like their lines.
A number at the beginning is part of the indentation.  Lines that are
indented already stay so."
  (hive-wrap-heed beg end)
  (save-excursion
    (goto-char beg)
    (while (< (point) end)
      (when (and (not (get-text-property (point) 'wrap-prefix))
                 (looking-at " *\\(?:[0-9] +\\)?"))
        (let ((columns (min hive-text--deepest (- (match-end 0) (match-beginning 0)))))
          (when (> columns 0)
            (put-text-property (point) (line-end-position) 'wrap-prefix
                               (make-string columns ?\s)))))
      (forward-line 1))))

(defun hive-wrap-room ()
  "Return the width of the narrowest window of this buffer, or nil."
  (let ((windows (get-buffer-window-list nil nil t)))
    ;; To measure a window, Emacs selects it, which moves point.
    (when windows (save-excursion (apply #'min (mapcar #'window-max-chars-per-line windows))))))

;;;; Showing text from agents

;; A character is shown as it is only if it is known to be drawn (characters.ts
;; in the sidecar says which are); everything else is spelled out.

(defconst hive-text--unsuspicious
  "[^\t\n -~\u00A1-\u00AC\u00AE-\u017F\u0391-\u03A1\u03A3-\u03C9\u0401-\u045F\u2018-\u201F\u2026\u3001-\u301B\u3041-\u3096\u30A1-\u30FA\u4E00-\u9FFC\uAC00-\uD7A3]"
  "A character for which a text must be examined character by character.
Greek and Cyrillic letters require that only where `hive-text--mixed' matches.")

(defconst hive-text--mixed
  (let ((latin "[A-Za-z\u00AA-\u017F][0-9_]*") (greek "[\u0391-\u03C9][0-9_]*")
        (cyrillic "[\u0401-\u045F][0-9_]*"))
    (mapconcat (lambda (two) (concat (car two) (cdr two)))
               (list (cons latin greek) (cons latin cyrillic) (cons greek latin)
                     (cons greek cyrillic) (cons cyrillic latin) (cons cyrillic greek))
               "\\|"))
  "Two letters of one word that are of different scripts.
Only the three most frequent scripts count.")

(defconst hive-text--most-marks 4
  "How many marks one character may carry.
No language needs more, and they may cover the lines around them.")

(defconst hive-text--visible 1 "The kind of a character that is drawn.")
(defconst hive-text--mark 2 "The kind of a character that is drawn on the one before it.")
(defconst hive-text--inner 4 "The kind of digits and the underscore, which may be within a word.")
(defconst hive-text--latin 5 "The kind of Latin letters; those of other scripts come after it.")

(defvar hive-text--tables nil "The value of `hive-text--tables', once it was needed.")

(defun hive-text--tables ()
  "Return two char-tables, a cons, made when they are first needed.
The first has the kind of each character that is drawn, a number.  The
second has the number of its script for each character that takes marks;
a mark of a script has the same number."
  (or hive-text--tables
      (let ((kinds (make-char-table nil)) (carriers (make-char-table nil)))
        (cl-flet ((fill (table ranges number)
                    (dolist (range (split-string ranges))
                      (pcase-let ((`(,first ,last) (split-string range "-")))
                        (set-char-table-range
                         table (cons (string-to-number first 16) (string-to-number (or last first) 16))
                         number)))))
          (fill kinds hive-text-visible hive-text--visible)
          (dolist (char '(?\t ?\n ?\s)) (aset kinds char hive-text--visible))
          (fill kinds hive-text-blanks hive-text--visible)
          (fill kinds hive-text-marks hive-text--mark)
          (dolist (char (append "0123456789_" nil)) (aset kinds char hive-text--inner))
          (cl-loop for letters in hive-text-scripts for kind from hive-text--latin
                   do (fill kinds letters kind))
          (cl-loop for ranges in hive-text-carriers for script from 1
                   do (fill carriers ranges script)))
        (setq hive-text--tables (cons kinds carriers)))))

(defun hive-text--reveal (char)
  "Return visible text for CHAR."
  (cond ((< char 32) (string ?^ (logxor char 64)))
        ((= char 127) "^?")
        (t (format "<U+%04X>" char))))

(defun hive-text-inert (text)
  "Return TEXT without properties, with all of it visible.
Characters that are not known to be drawn are spelled out: control, bidi
and zero-width characters, marks with nothing to stand on, and letters
whose script differs from the rest of their word; newlines and tabs stay.
If TEXT is not a string, return the empty string."
  (cond ((not (stringp text)) "")
        ;; Most texts; walking through each would be felt in a long list.
        ((let ((case-fold-search nil))
           (not (or (and (string-match-p "[^[:ascii:]]" text) (not (char-displayable-p ?\u0301)))
                    (string-match-p hive-text--unsuspicious text)
                    (string-match-p hive-text--mixed text))))
         (substring-no-properties text))
        ;; In a buffer, because the time to walk through a long string grows
        ;; with the square of its length.
        (t (with-temp-buffer
             (insert (substring-no-properties text))
             (unless (char-displayable-p ?\u0301) (hive-text--spell-undisplayable))
             (goto-char (point-min))
             (hive-text--spell)
             (buffer-string)))))

(defun hive-text--spell-undisplayable ()
  "Spell out in this buffer what the terminal of this frame cannot show.
Emacs would show a code for most of it, and \"?\" for a letter with its
mark."
  (goto-char (point-min))
  (while (re-search-forward "[^[:ascii:]]" nil t)
    (let ((char (preceding-char)))
      (unless (char-displayable-p char)
        (replace-match (hive-text--reveal char) t t)))))

(defun hive-text--spell ()
  "Spell out in this buffer what is not known to be drawn as what it is.
This is one loop that calls and allocates nothing for each word or
character, because hostile text has tens of thousands."
  (let* ((table (car (hive-text--tables)))
         (carriers (cdr (hive-text--tables)))
         (counts (make-vector (+ hive-text--latin (length hive-text-scripts)) 0))
         (shown (make-hash-table :test #'eq))
         (inhibit-modification-hooks t)
         ;; How many more marks the last base character may carry.
         (room 0)
         ;; The script whose marks it carries.
         (base nil)
         char kind begin main others marks left)
    (while (not (eobp))
      (setq char (following-char) kind (aref table char))
      (cond
       ((and kind (>= kind hive-text--inner))
        ;; A word.
        (fillarray counts 0)
        (setq begin (point) main nil others nil marks 0)
        (while (and (not (eobp)) (setq kind (aref table (setq char (following-char))))
                    (or (>= kind hive-text--inner)
                        (and (eq kind hive-text--mark)
                             (<= (setq marks (1+ marks)) hive-text--most-marks)
                             (memq (aref carriers char) (list nil base)))))
          (unless (eq kind hive-text--mark)
            (setq marks 0 base (aref carriers char))
            (when (>= kind hive-text--latin)
              (aset counts kind (1+ (aref counts kind)))
              (cond ((null main) (setq main kind))
                    ((not (eq kind main)) (setq others t)))))
          (forward-char 1))
        (setq room 0)
        (when others
          ;; Of two that are as frequent, the first is the main one.
          (setq main hive-text--latin)
          (dotimes (script (length counts))
            (when (> (aref counts script) (aref counts main)) (setq main script)))
          (setq left (- (point) begin))
          (goto-char begin)
          (while (> left 0)
            (setq char (following-char) kind (aref table char) left (1- left))
            (if (or (< kind hive-text--latin) (eq kind main))
                (forward-char 1)
              (delete-char 1)
              (insert (or (gethash char shown)
                          (puthash char (hive-text--reveal char) shown)))))))
       ((or (null kind)
            (and (eq kind hive-text--mark)
                 (or (= room 0) (not (memq (aref carriers char) (list nil base))))))
        (delete-char 1)
        (insert (or (gethash char shown) (puthash char (hive-text--reveal char) shown)))
        (setq room 0))
       (t
        (forward-char 1)
        (unless (eq kind hive-text--mark) (setq base (aref carriers char)))
        (setq room (cond ((eq kind hive-text--mark) (1- room))
                         ((> char ?\s) hive-text--most-marks)
                         (t 0))))))))

(defun hive-text-trimmed (text)
  "Return TEXT without the white space at its end.
`string-trim-right' takes time with the square of a run of white space
within: 16 s for 60,000 blanks."
  (let ((end (length text)))
    (while (and (> end 0) (memq (aref text (1- end)) '(?\s ?\t ?\n ?\r))) (setq end (1- end)))
    (substring text 0 end)))

(defun hive-text-literal (text)
  "Return TEXT for a mode line or a header line.
A percent sign there is a directive."
  (string-replace "%" "%%" text))

(defun hive-text-line (text &optional width)
  "Return TEXT as one inert line, at most WIDTH columns wide.
Runs of white space become one space."
  (let* ((text (if (stringp text) text ""))
         ;; An 8,000-character question need not be cleaned for 80 columns.
         (line (if (and width (> (length text) (* 4 width)))
                   (substring text 0 (* 4 width))
                 text)))
    ;; Most lines are fine as they are; a list has thousands, and the
    ;; garbage of cleaning them would be felt.
    (when (string-match-p "[\t\n\r]\\|  \\|\\` \\| \\'" line)
      (setq line (string-trim (replace-regexp-in-string "[ \t\n\r]+" " " line))))
    (setq line (hive-text-inert line))
    (if (and width (> (string-width line) width))
        (truncate-string-to-width line width nil nil (hive-mark "…"))
      line)))

(defconst hive-text--path "[^][ \t\n\"'`()<>=,;:]*/[^][ \t\n\"'`()<>=,;]*"
  "A regexp for what may be a path.")

(defconst hive-text--path-width 36 "How many columns of a path a row has.")

(defun hive-text-short-paths (text project-dir)
  "Return TEXT, for a row, with paths that show their end.
Those within the project of PROJECT-DIR are relative to it, and long ones
lose their beginning.  Addresses stay as they are."
  (if (not (and (stringp text) (string-search "/" text)))
      text
    (let ((root (and (stringp project-dir)
                     (concat (string-remove-suffix "/.git" (directory-file-name project-dir)) "/"))))
      (replace-regexp-in-string
       hive-text--path
       (lambda (path)
         (let ((own (if (and root (string-prefix-p root path)) (substring path (length root)) path)))
           (if (or (string-prefix-p "//" path) (<= (string-width own) hive-text--path-width)) own
             (let ((end (substring own (- (min (length own) hive-text--path-width)))))
               (concat (hive-mark "…") (substring end (or (string-match-p "/[^?]" end) 0)))))))
       ;; More than a row shows need not be searched.
       (substring text 0 (min (length text) 2000)) t t))))

(defun hive-text-question (prompt width)
  "Return the question of PROMPT for a row, at most WIDTH columns wide."
  (hive-text-line (hive-text-short-paths (plist-get prompt :question) (plist-get prompt :project_dir)) width))

(defun hive-text-source-label (thing)
  "Return the label of the source of THING: bg, fork, or nil for main.
Everything that shows a source uses this function, the counterpart of
`sourceLabel' in the sidecar."
  (let ((source (plist-get thing :source)))
    (unless (member source '(nil "main")) (hive-text-line source 6))))

(defvar hive-text-titles (make-hash-table :test #'equal)
  "The titles of the living sessions, by id, as `hive-model' keeps them.")

(defun hive-text-title (thing &optional width)
  "Return what people call the agent of THING, at most WIDTH columns wide.
THING is a session, or something of one: a question, a card, a turn.  That
is the title that its session has now, else the one that came with
THING, else its handle.  Everything that names an agent uses this
function, the counterpart of `calledBy' in the sidecar."
  (hive-text-line (or (gethash (plist-get thing :session_id) hive-text-titles)
                      (if (plist-get thing :handle) (plist-get thing :title)
                        (plist-get thing :agent_title))
                      (plist-get thing :handle)
                      (plist-get thing :agent))
                  width))

(defun hive-text-agent (thing &optional width)
  "Return the title of the agent of THING, at most WIDTH columns wide.
The label of `hive-text-source-label' comes before it."
  (let ((source (hive-text-source-label thing)))
    (concat (if source (format "[%s] " source) "")
            (hive-text-title thing width))))

(defun hive-text-agent-in (thing width)
  "Return the title of the agent of THING with its project.
The title is at most WIDTH columns wide.  A title that says the project
\(\"shop\", \"shop 2\") stands alone."
  (let ((title (hive-text-title thing))
        (project (hive-text-line (plist-get thing :project) 30)))
    (concat (hive-text-agent thing width)
            (if (or (string-empty-p project)
                    (string-match-p (concat "\\`" (regexp-quote project) "\\( [0-9]+\\)?\\'") title))
                ""
              (format " (%s)" project)))))

(defun hive-text-author-title (message)
  "Return the title of the session that wrote MESSAGE, a message or a mention.
Return nil if none is known."
  (gethash (plist-get message (if (plist-get message :mention_id) :from_session_id :session_id))
           hive-text-titles))

(defun hive-text-author (message width)
  "Return the name of the author of MESSAGE, at most WIDTH columns wide.
That of a human is the name under which they posted it.  If its heading
had another name, that follows."
  (let ((as (plist-get message :as_handle)))
    (concat (hive-text-line (or (plist-get message :by)
                                (hive-text-author-title message)
                                (plist-get message :from_handle))
                            width)
            (if as (format " (%s)" (hive-words 'mark-as (hive-text-line as width))) ""))))

(defun hive-text-by (answer width)
  "Return who gave ANSWER, a plist with :by, at most WIDTH columns wide.
An answer that no key of a person signed is marked."
  (let ((by (hive-text-line (or (plist-get answer :by) "") width)))
    (if (eq (plist-get answer :attested) :json-false) (hive-words "%s, unattested" by) by)))

(defun hive-text-value (value width)
  "Return the words for VALUE, a name such as a status, at most WIDTH columns wide.
A name that `hive-messages' has no words for stays as it is."
  (let ((words (and (stringp value)
                    (alist-get (intern-soft (concat "value-" value)) hive-messages))))
    (hive-text-line (or words value) width)))

;;;; Faces

;; Emacs' own `error', `warning', `success' and `shadow' have too little
;; contrast on a white background.  These have at least 4.5:1 on light and on
;; dark ones, and Hive's other faces inherit from them.

(defface hive-critical
  '((((class color) (min-colors 88) (background light)) :foreground "#b00020" :weight bold)
    (((class color) (min-colors 88) (background dark)) :foreground "#ff8a80" :weight bold)
    (t :inherit error))
  "Text about something urgent or failed." :group 'hive-faces)

(defface hive-warning
  '((((class color) (min-colors 88) (background light)) :foreground "#8a4600" :weight bold)
    (((class color) (min-colors 88) (background dark)) :foreground "#ffb454" :weight bold)
    (t :inherit warning))
  "Text that deserves attention." :group 'hive-faces)

(defface hive-success
  '((((class color) (min-colors 88) (background light)) :foreground "#1b6e1b" :weight bold)
    (((class color) (min-colors 88) (background dark)) :foreground "#7fd98a" :weight bold)
    (t :inherit success))
  "Text about something chosen, active or good." :group 'hive-faces)

(defface hive-shadow
  '((((class color) (min-colors 88) (background light)) :foreground "#5f5f5f")
    (((class color) (min-colors 88) (background dark)) :foreground "#a8a8a8")
    (t :inherit shadow))
  "Text that is less important." :group 'hive-faces)

;;;; Writing a buffer to a file

;; Text from agents must do nothing when a file with it is opened: no mode, no
;; local variables, no links that run something.  This holds for every way in
;; which Emacs writes a buffer of ours (`write-file', `save-buffer',
;; `append-to-file', `write-region'), and for what `write-file' itself reads in
;; the buffer.

(defvar-local hive-text-file-start "Saved from Hive, with text of agents.  -*- mode: text -*-\n"
  "The first line of such a file.
Emacs takes a mode from nowhere else then: not from its text, and not
from its name.")

(defun hive-text--annotate (start end)
  "Return the annotations of the text from START to END in a file.
This is for `write-region-annotate-functions'."
  (unless (stringp start)
    (list (cons (or start (point-min)) hive-text-file-start)
          (cons (if start end (point-max)) hive-text-file-end))))

(defun hive-text-guard ()
  "Guard this buffer against what text of agents could do.
Every file that it is written to is inert, no text of it takes Emacs
long to display, and its name leaves room in the mode line."
  (add-hook 'write-region-annotate-functions #'hive-text--annotate nil t)
  (setq-local change-major-mode-with-file-name nil
              ;; The whole name would push the counts out of a mode line of 80 columns.
              mode-line-buffer-identification (list -26 (default-value 'mode-line-buffer-identification))
              enable-local-variables nil
              local-enable-local-variables nil
              ;; Emacs looks for the partner of each bracket: 16,000 in one line
              ;; took it 18 s, and C-g does not end that.
              bidi-inhibit-bpa t))

;;;; Sending text

(defun hive-text-sendable (text)
  "Return TEXT with only characters that JSON can carry.
NUL, raw bytes and lone surrogates become the replacement character."
  (replace-regexp-in-string "[\u0000\xD800-\xDFFF\x3FFF80-\x3FFFFF]" "\uFFFD"
                            (substring-no-properties text) t t))

;;;; Printing a buffer again

;; New items may be inserted above the line of point.  So a position is
;; remembered by the part of the buffer that it is in (an option, a notice), and
;; by its line there: RET must not press another button than the one that was
;; displayed at point.

(defvar-local hive-text-part-property 'hive-part
  "The property whose values are the ids of the parts of this buffer.")

(defmacro hive-text-part (id &rest body)
  "Evaluate BODY; the new lines of the buffer are the part ID.
When the buffer is printed again, positions stay in the part with an
equal ID.  Parts do not nest."
  (declare (indent 1) (debug t))
  (let ((begin (make-symbol "begin")))
    `(let ((,begin (point)))
       ,@body
       (put-text-property ,begin (point) 'hive-part ,id))))

(defun hive-text-part-begin (id)
  "Return where the part ID begins, or nil."
  (let ((position (point-min)))
    (while (and position (not (equal id (get-text-property position hive-text-part-property))))
      (setq position (next-single-property-change position hive-text-part-property)))
    position))

(defun hive-text-part-go (&optional back)
  "Go to the beginning of the next part, or BACK to that of the one before.
Return nil if there is none.  Text between parts, such as a heading, is
passed."
  (let* ((property hive-text-part-property)
         (at (if (and back (get-text-property (point) property))
                 (previous-single-property-change (1+ (point)) property nil (point-min))
               (point))))
    (cl-loop while (and at (not (and back (= at (point-min)))))
             do (setq at (if back (previous-single-property-change at property nil (point-min))
                           (next-single-property-change at property)))
             thereis (and at (get-text-property at property) (goto-char at)))))

(defun hive-part-next ()
  "Go to the next item of this buffer."
  (declare (modes hive-check-mentions-mode hive-outreach-mode hive-rules-mode))
  (interactive)
  (unless (hive-text-part-go) (hive-fail "This is the last one")))

(defun hive-part-previous ()
  "Go to the item before this one, or to its beginning."
  (declare (modes hive-check-mentions-mode hive-outreach-mode hive-rules-mode))
  (interactive)
  (unless (hive-text-part-go t) (hive-fail "This is the first one")))

(defun hive-text--button ()
  "Return the identity of the button at point, or nil.
That is the address of a link, else the text from the line to its end."
  (when-let* ((button (button-at (point))))
    (or (button-get button 'hive-address)
        (buffer-substring-no-properties (line-beginning-position) (button-end button)))))

(defun hive-text--place (position)
  "Return the place of POSITION, for `hive-text--position'.
It is a list: the id of the part, that of the next one, the line in the
part, the line in the buffer, the column, and the button there."
  (save-excursion
    (goto-char position)
    (let* ((button (hive-text--button))
           ;; The end of the buffer is in the last part.
           (id (get-text-property (if (eobp) (max (point-min) (1- position)) position)
                                  hive-text-part-property))
           (begin (previous-single-property-change (min (1+ position) (point-max))
                                                   hive-text-part-property nil (point-min)))
           (next (next-single-property-change position hive-text-part-property)))
      (forward-line 0)
      (list id (and next (get-text-property next hive-text-part-property))
            (count-lines begin (point)) (count-lines (point-min) (point))
            (- position (point)) button))))

(defun hive-text--position (place)
  "Return the position at PLACE, or the nearest existing one.
If the part no longer exists, that is the next part, or if that does not
exist either, or if PLACE is on a button, the line with the same number.
It is the beginning of the buffer if another button would be there."
  (pcase-let* ((`(,id ,next ,within ,line ,column ,button) place)
               (begin (and id (hive-text-part-begin id)))
               (after (and id next (not begin) (not button) (hive-text-part-begin next))))
    (save-excursion
      (save-restriction
        (when begin
          (let ((end (next-single-property-change begin hive-text-part-property nil (point-max))))
            ;; The next part begins after the last newline of a part.
            (narrow-to-region begin (if (= end (point-max)) end (1- end)))))
        (goto-char (or after (point-min)))
        (forward-line (cond (begin within) (after 0) (t line)))
        (goto-char (min (+ (point) column) (line-end-position))))
      ;; A button that looks the same is another one if it is in another part.
      (if (member (hive-text--button) (list nil (and (or begin (null id)) button)))
          (point)
        (point-min)))))

(defun hive-text-keep-places (print &optional end)
  "Call PRINT, which prints this buffer again, or what is before END in it.
Point and the mark stay at the text that they were at, and so do the
points and the starts of the windows, and where a search would go on.
Those from END on are not moved."
  (let ((places (list (cons #'goto-char (point)))))
    (when (bound-and-true-p isearch-mode)
      (dolist (variable '(isearch-opoint isearch-other-end))
        (when (symbol-value variable)
          (push (cons (lambda (position) (set variable position)) (symbol-value variable)) places))))
    (when (mark t)
      (push (cons (lambda (position) (set-marker (mark-marker) position)) (mark t)) places))
    ;; A window that is not selected has a point of its own.
    (dolist (window (get-buffer-window-list nil nil t))
      (push (cons (lambda (position) (set-window-point window position)) (window-point window)) places)
      (let ((top (= (window-start window) (point-min))))
        ;; At the top, a window shows what arrives there.
        (push (cons (lambda (position) (set-window-start window (if top (point-min) position) t))
                    (window-start window))
              places)))
    (setq places (cl-loop for (put . position) in places
                          unless (and end (>= position end))
                          collect (cons put (hive-text--place position))))
    ;; The region stays active.
    (let ((deactivate-mark nil)) (funcall print))
    (pcase-dolist (`(,put . ,place) places) (funcall put (hive-text--position place)))))

(defun hive-text-reprint (print)
  "Erase this buffer and call PRINT, which prints it again.
Positions stay where they are, as of `hive-text-keep-places'."
  (let ((inhibit-read-only t))
    (widen)
    (hive-text-keep-places (lambda () (erase-buffer) (funcall print)))))

(defun hive-text-set-up (&optional revert table)
  "Prepare this buffer for text from agents, and let REVERT fetch it again.
It is wrapped between words, or if it is a TABLE, its lines are truncated.
What is written to a file is inert."
  (hive-text-guard)
  (if table (setq truncate-lines t) (hive-wrap-words))
  ;; Right-to-left text in one column must not move the others.
  (setq bidi-paragraph-direction 'left-to-right)
  (when revert (setq-local revert-buffer-function (lambda (&rest _) (funcall revert)))))

(defmacro hive-in-buffer (buffer &rest body)
  "Run BODY in BUFFER, a buffer or its name, if there is such a buffer."
  (declare (indent 1) (debug t))
  (let ((it (make-symbol "buffer")))
    `(let* ((,it ,buffer) (,it (if (stringp ,it) (get-buffer ,it) ,it)))
       (when (buffer-live-p ,it)
         (with-current-buffer ,it ,@body)))))

(defun hive-text--set-up-list ()
  "Prepare the list of completions for text from agents."
  (hive-in-buffer standard-output (hive-text-set-up)))

(defun hive-text-complete ()
  "Prepare this minibuffer, or shared buffer, for completing text from agents."
  (when (or (minibufferp) (derived-mode-p 'hive-shared-mode))
    ;; After that of Emacs, which sets the mode of the list.
    (add-hook 'completion-setup-hook #'hive-text--set-up-list 90 t)))

(defun hive-text-in-use-p ()
  "Return non-nil if the text of this buffer must stay as it is now.
The human searches in it, has narrowed it, or uses the region."
  (or (bound-and-true-p isearch-mode)
      (buffer-narrowed-p)
      (and (region-active-p) (eq (current-buffer) (window-buffer)))))

(defun hive-buffers (mode)
  "Return the buffers whose major mode is MODE, or derived from it."
  (seq-filter (lambda (buffer)
                (provided-mode-derived-p (buffer-local-value 'major-mode buffer) mode))
              (buffer-list)))

(defun hive-buffer-of (ask-id mode variable)
  "Return the buffer in MODE whose VARIABLE is the question ASK-ID, or nil."
  (seq-find (lambda (buffer)
              (equal ask-id (plist-get (buffer-local-value variable buffer) :ask_id)))
            (hive-buffers mode)))

(defun hive-call-in (buffer function &rest args)
  "Call FUNCTION with ARGS in BUFFER, if that exists."
  (hive-in-buffer buffer (apply function args)))

(defun hive-buffer (name mode)
  "Return the buffer NAME, which is in MODE; make it if there is none."
  (with-current-buffer (get-buffer-create name)
    (unless (derived-mode-p mode) (funcall mode))
    (current-buffer)))

(defun hive-text-buffer (name insert &optional mode)
  "Return the buffer NAME in MODE, by default `special-mode', with a new text.
INSERT is a function that inserts it."
  (with-current-buffer (get-buffer-create name)
    (funcall (or mode #'special-mode))
    (hive-text-set-up)
    (let ((inhibit-read-only t))
      (erase-buffer)
      (funcall insert)
      (goto-char (point-min)))
    (current-buffer)))

(defun hive-text-close (buffer)
  "Kill BUFFER, if it still exists, and let its window show what it showed before."
  (when (buffer-live-p buffer)
    (let ((window (get-buffer-window buffer)))
      (if window (quit-window t window) (kill-buffer buffer)))))

(defun hive-text-to-top ()
  "Go to the beginning of this buffer, in each of its windows."
  (goto-char (point-min))
  (dolist (window (get-buffer-window-list nil nil t)) (set-window-point window (point))))

;;;; Empty tables

(defun hive-text-overlay (begin end &rest properties)
  "Make an overlay with PROPERTIES from BEGIN to END, and return it.
It goes away with its text."
  (let ((overlay (make-overlay begin end nil t)))
    (overlay-put overlay 'evaporate t)
    (while properties (overlay-put overlay (pop properties) (pop properties)))
    overlay))

(defun hive-text-say-empty (sentence)
  "Show SENTENCE, or if it is nil, nothing, in this buffer, an empty table.
This is an overlay, so that there is no line for point to be on."
  (remove-overlays (point-min) (point-max) 'hive-nothing t)
  (when sentence
    (let ((overlay (make-overlay (point-min) (point-min))))
      (overlay-put overlay 'hive-nothing t)
      (overlay-put overlay 'after-string
                   (propertize (concat " " sentence) 'face 'hive-shadow 'cursor t)))))

;;;; Lists from the sidecar

(defun hive-find (key value things)
  "Return the first of THINGS, plists in a list or a vector, whose KEY is VALUE."
  (seq-find (lambda (thing) (equal value (plist-get thing key))) things))

(defun hive-values (key things)
  "Return the distinct values of KEY in THINGS, but nil.
THINGS are plists in a list or a vector."
  (delete-dups (delq nil (mapcar (lambda (thing) (plist-get thing key)) things))))

(defun hive-with (filter key value)
  "Return FILTER, a plist, with VALUE for KEY, or without KEY if VALUE is blank."
  (let ((filter (copy-sequence filter)))
    (cl-remf filter key)
    (if (string-blank-p value) filter
      (append filter (list key (hive-text-sendable value))))))

(defun hive-filter (key value things)
  "Return those of THINGS, plists in a list or a vector, whose KEY is VALUE."
  (seq-filter (lambda (thing) (equal value (plist-get thing key))) things))

;;;; Files

(defun hive-text-write (file text)
  "Write TEXT to FILE, whole or not at all, for its owner only.
Create its directory; signal a `file-error' if that fails."
  (let ((directory (file-name-directory file))
        (new (concat file ".new"))
        (coding-system-for-write 'utf-8-unix)
        (write-region-inhibit-fsync nil))
    (unless (file-directory-p directory)
      (with-file-modes #o700 (make-directory directory t)))
    ;; The old file stays until the new text is on disk.
    (with-file-modes #o600
      (write-region text nil new nil 'silent))
    (rename-file new file t)))

;;;; Times

;; Every time that Hive reads and every timer that it starts comes from
;; these, so that a test can put the clock forward.

(defun hive-now ()
  "Return the current time in seconds since the epoch."
  (float-time))

(defun hive-later (seconds function &rest args)
  "Call FUNCTION with ARGS in SECONDS; return the timer."
  (apply #'run-at-time seconds nil function args))

(defun hive-every (seconds function &rest args)
  "Call FUNCTION with ARGS every SECONDS; return the timer."
  (apply #'run-at-time seconds seconds function args))

(defun hive-set-timer (variable &optional seconds function &rest args)
  "Set VARIABLE to a new timer: call FUNCTION with ARGS in SECONDS.
The timer that it had is cancelled; without SECONDS, it gets no other.
It is nil again when FUNCTION is called."
  (when (symbol-value variable) (cancel-timer (symbol-value variable)))
  (set variable (and seconds
                     (hive-later seconds (lambda ()
                                           (set variable nil)
                                           (apply function args))))))

(defun hive-text-seconds (time)
  "Return the ISO 8601 string TIME as seconds since the epoch, or nil."
  (when (stringp time)
    (ignore-errors
      (float-time
       (if (and (= (length time) 24) (= (aref time 23) ?Z))
           ;; The format that Hive writes.  Parsing all of ISO 8601 takes
           ;; ten times as long, and a list has many times.
           (cl-flet ((part (from to) (string-to-number (substring time from to))))
             (encode-time (list (part 17 19) (part 14 16) (part 11 13)
                                (part 8 10) (part 5 7) (part 0 4) nil nil 0)))
         (encode-time (iso8601-parse time)))))))

(defun hive-text-local (time format)
  "Return the ISO 8601 string TIME in the local zone, or the empty string.
FORMAT is as for `format-time-string'."
  (let ((seconds (hive-text-seconds time)))
    (if seconds (format-time-string format seconds) "")))

(defun hive-text-now ()
  "Return the current time in the format of the sidecar."
  (hive-text-before 0))

(defun hive-text-before (seconds)
  "Return the time SECONDS ago in the format of the sidecar.
If SECONDS is negative, the time is in the future."
  (format-time-string "%Y-%m-%dT%H:%M:%S.%3NZ" (- (hive-now) seconds) t))

(defun hive-text-duration (seconds)
  "Return SECONDS in short form: 12s, 5m, 3h, 2d."
  (let ((seconds (max 0 (round seconds))))
    (cond ((< seconds 60) (format "%ds" seconds))
          ((< seconds 3600) (format "%dm" (/ seconds 60)))
          ((< seconds 172800) (format "%dh" (/ seconds 3600)))
          (t (format "%dd" (/ seconds 86400))))))

(defconst hive-ages-pause 60 "Seconds after which the ages in a buffer are printed again.")

(defun hive-text-age (time)
  "Return the age of the ISO 8601 string TIME, or the empty string."
  (let ((then (hive-text-seconds time)))
    (if then (hive-text-duration (- (hive-now) then)) "")))

(defun hive-text-long-age (time)
  "Return the age of the ISO 8601 string TIME with minutes: 1h 50m."
  (let* ((then (hive-text-seconds time))
         (seconds (and then (max 0 (round (- (hive-now) then))))))
    (cond ((null seconds) "")
          ((or (< seconds 3600) (>= seconds 86400)) (hive-text-duration seconds))
          (t (format "%dh %dm" (/ seconds 3600) (/ (% seconds 3600) 60))))))

(defun hive-text-until (time)
  "Return the time until the ISO 8601 string TIME, or the empty string."
  (let ((then (hive-text-seconds time)))
    (if then (hive-text-duration (- then (hive-now))) "")))

(provide 'hive-text)
;;; hive-text.el ends here
