;;; hive-markdown.el --- The Markdown of agents, coloured and folded  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Headings, code, code blocks, diffs and tables of a text from an agent, and
;; the folding of a long text by its headings.
;;
;; No other mode touches the text: `markdown-mode' calls whatever mode a code
;; block names, and hostile text keeps it busy for minutes.  No text is passed
;; twice, and the numbers of faces and of table cells are bounded.

;;; Code:

(require 'cl-lib)
(require 'hive-diff)
(require 'hive-messages)
(require 'hive-text)
(require 'subr-x)

;;;; Faces

(defface hive-prompt-heading '((t :inherit (bold font-lock-keyword-face)))
  "Headings in the buffer of a question." :group 'hive-faces)

(defface hive-prompt-code '((t :inherit (fixed-pitch font-lock-string-face)))
  "Code in the context of a question." :group 'hive-faces)

(defface hive-prompt-table '((t :inherit fixed-pitch))
  "Tables in the context of a question." :group 'hive-faces)

;;;; Colouring

(defconst hive-markdown--most-colours 1000
  "How many pieces of a text get a face; Emacs is slow with more.")

(defconst hive-markdown--fence "\\(```+\\|~~~+\\)\\( *\\(?:diff\\|patch\\)[ \t]*$\\)?"
  "The first line of a code block; the second group is there if it has a diff.")

(defconst hive-markdown--most-cells 600
  "How many cells of tables are looked at; each costs Emacs some microseconds.")

(defvar hive-markdown--left 0 "How many more pieces of the text get a face.")
(defvar hive-markdown--cells 0 "How many more cells of tables are looked at.")
(defvar hive-markdown--painted nil "The pieces that get one, newest first: beginning, end, property and value.")

(defun hive-markdown-insert (text &optional room)
  "Insert TEXT with our faces for its Markdown and no other property.
With ROOM, a number of columns, align the tables that are at most that
wide."
  (save-restriction
    (narrow-to-region (point) (point))
    (insert (substring-no-properties text))
    (let ((hive-markdown--left hive-markdown--most-colours)
          (hive-markdown--painted nil)
          (hive-markdown--cells (if room hive-markdown--most-cells 0))
          ;; Hundreds of cells would otherwise make Emacs collect garbage several times.
          (gc-cons-threshold (max gc-cons-threshold (* 16 1024 1024))))
      (hive-markdown--colour room)
      (pcase-dolist (`(,from ,to ,property ,value) (nreverse hive-markdown--painted))
        (put-text-property from to property value)))
    (goto-char (point-max))))

(defun hive-markdown--paint (from to face)
  "Give the text between FROM and TO the FACE, once all of the text is read.
Changing text that has properties is slow."
  (setq hive-markdown--left (1- hive-markdown--left))
  (push (list from to 'face face) hive-markdown--painted))

(defun hive-markdown--colour (room)
  "Colour the Markdown in this buffer, and align tables of at most ROOM columns."
  (goto-char (point-min))
  (while (and (> hive-markdown--left 0) (not (eobp)))
    (let ((begin (point)) (end (line-end-position)))
      (cond
       ((hive-diff-at-p)
        (setq hive-markdown--left (- hive-markdown--left (hive-diff-colour hive-markdown--left)))
        (unless (eobp) (backward-char)))
       ((and (memq (following-char) '(?` ?~)) (looking-at hive-markdown--fence))
        (hive-markdown--code-block begin end))
       ((and (eq (following-char) ?#) (looking-at "#+ "))
        (hive-markdown--paint begin end 'hive-prompt-heading))
       ((and (eq (following-char) ?|) (hive-markdown--table room)))
       (t (hive-markdown--spans end nil))))
    (end-of-line)
    (skip-chars-forward "\n")))

(defun hive-markdown--code-block (begin end)
  "Colour the code block whose first line, just matched, is from BEGIN to END."
  (let ((diff (match-beginning 2)))
    (unless (search-forward (concat "\n" (match-string 1)) nil t)
      (goto-char (point-max)))
    (if (not diff)
        (hive-markdown--paint begin (line-end-position) 'hive-prompt-code)
      (let ((close (line-beginning-position)))
        (goto-char (min (point-max) (1+ end)))
        (setq hive-markdown--left
              (- hive-markdown--left (hive-diff-colour-lines (max close (point)))))))))

(defun hive-markdown--spans (end face)
  "Colour the code between point and END; the text around it has FACE."
  (while (and (> hive-markdown--left 0) (re-search-forward "`[^`\n]+`" end t))
    (hive-markdown--paint (match-beginning 0) (match-end 0)
                          (if face (list 'hive-prompt-code face) 'hive-prompt-code))))

;;;; Tables

;; A table is aligned with blanks.  Where a character may be wider or narrower
;; than its columns, the blanks end at a column whatever is before them.

(defconst hive-markdown--rule "|\\(?: *:?-+:? *|\\)* *:?-+:? *|? *$"
  "The line below the first one of a table.")

(defun hive-markdown--table (room)
  "Align the table at point if it is at most ROOM columns wide.
Return nil if there is none, or if it is wider: it stays as it is then."
  (let ((begin (point)))
    (when (and (> hive-markdown--cells 0) (hive-markdown--rule-below-p))
      (let* ((rows (hive-markdown--rows)) (end (point))
             (sides (mapcar #'hive-markdown--side (cadr rows)))
             (widths (make-list (length sides) 3)))
        (goto-char begin)
        (when (and rows
                   (cl-every (lambda (row) (<= (length row) (length sides))) rows)
                   (progn
                     (dolist (row (cons (car rows) (cddr rows)))
                       (setq widths (cl-mapcar (lambda (width cell) (max width (string-width cell)))
                                               widths (hive-markdown--full row sides))))
                     (<= (apply #'+ 1 (* 3 (length sides)) widths) room)))
          (delete-region begin end)
          (let ((number 0))
            (dolist (row rows)
              (unless (= number 0) (insert "\n"))
              (if (= number 1)
                  (insert "|" (mapconcat (lambda (width) (make-string (+ 2 width) ?-)) widths "|") "|")
                (hive-markdown--insert-row (hive-markdown--full row sides) widths sides))
              (setq number (1+ number))))
          (setq end (point))
          (hive-markdown--paint begin end 'hive-prompt-table)
          (goto-char begin)
          (hive-markdown--spans end 'hive-prompt-table)
          (goto-char end))))))

(defun hive-markdown--rule-below-p ()
  "Return non-nil if the line below is the rule of a table."
  (save-excursion
    (and (zerop (forward-line 1))
         (eq (following-char) ?|)
         ;; A regexp cannot match a line of any length.
         (< (- (line-end-position) (point)) 300)
         (looking-at hive-markdown--rule))))

(defun hive-markdown--rows ()
  "Return the rows of the table at point, lists of cells, and go to its end.
Return nil if it has too many cells."
  (let (rows (more t))
    (while (and more (eq (following-char) ?|) (> hive-markdown--cells 0))
      (push (hive-markdown--row) rows)
      (setq more (zerop (forward-line 1))))
    (cond ((and more (eq (following-char) ?|)) nil)
          (t (unless (and (eobp) (not (bolp))) (backward-char))
             (nreverse rows)))))

(defun hive-markdown--row ()
  "Return the cells of the row at point."
  (let ((end (line-end-position)) (from (1+ (point))) cells)
    (goto-char from)
    (while (and (< (point) end) (> hive-markdown--cells 0))
      (skip-chars-forward "^|\n")
      (if (and (eq (following-char) ?|) (eq (preceding-char) ?\\))
          (forward-char 1)
        (push (hive-markdown--cell from (point)) cells)
        (setq hive-markdown--cells (1- hive-markdown--cells))
        (unless (= (point) end) (forward-char 1))
        (setq from (point))))
    ;; There may be blanks after the last bar.
    (when (and (cdr cells) (equal (car cells) "")
               (not (eq (char-before end) ?|)))
      (pop cells))
    (nreverse cells)))

(defun hive-markdown--cell (from to)
  "Return the text between FROM and TO without the blanks around it."
  ;; `string-trim' takes time with the square of a run of blanks within.
  (save-excursion
    (goto-char to)
    (skip-chars-backward " \t\r" from)
    (let ((end (point)))
      (goto-char from)
      (skip-chars-forward " \t\r" end)
      (buffer-substring-no-properties (point) end))))

(defun hive-markdown--side (rule)
  "Return on which side the blanks of a column are whose RULE is \"--:\" or so."
  (cond ((not (string-suffix-p ":" rule)) 'right)
        ((string-prefix-p ":" rule) 'both)
        (t 'left)))

(defun hive-markdown--full (row sides)
  "Return ROW with as many cells as SIDES."
  (append row (make-list (max 0 (- (length sides) (length row))) "")))

(defun hive-markdown--insert-row (row widths sides)
  "Insert the cells of ROW, with blanks up to WIDTHS on SIDES of them."
  (let ((column 1) (wide (cl-some (lambda (cell) (string-match-p "[^[:ascii:]]" cell)) row)))
    (insert "|")
    (cl-loop
     for cell in row for width in widths for side in sides
     for blank = (- width (string-width cell))
     for before = (pcase side ('left blank) ('both (/ blank 2)) (_ 0))
     do (setq column (+ column width 3))
     (insert (make-string (1+ before) ?\s) cell)
     (let ((from (point)))
       (insert (make-string (1+ (- blank before)) ?\s))
       (when wide
         (push (list from (point) 'display `(space :align-to ,(1- column)))
               hive-markdown--painted)))
     (insert "|"))))

;;;; Folding by headings

;; The sections of a context, which begin with a Markdown heading, can be
;; folded; the heading then shows how many lines are hidden.  A long context
;; opens with only its headings.  The text of a permission is never folded.
;;
;; Only text coloured as a heading is one, so a line in a code block is not.

(defcustom hive-fold-lines 100
  "A context with more lines than this opens with only its headings.
nil means that all of it is shown."
  :type '(choice (natnum :tag "Lines") (const :tag "Never" nil))
  :group 'hive)

(defvar-local hive-fold--area nil "Where the text is, a cons of markers, or nil.")
(defvar-local hive-fold--text nil "The text.")
(defvar-local hive-fold--folded nil
  "The hidden sections: an alist of heading numbers and numbers of lines.")
(defvar-local hive-fold--read nil "Non-nil if the human has shown all of it.")

;;;;; Sections

(defun hive-fold--headings ()
  "Return the headings of the text, conses of their position and level."
  (when hive-fold--area
    (let ((at (marker-position (car hive-fold--area))) (end (cdr hive-fold--area)) headings)
      (save-excursion
        (while (and at (setq at (text-property-any at end 'face 'hive-prompt-heading)))
          (goto-char at)
          (when (bolp)
            (push (cons at (skip-chars-forward "#")) headings))
          (setq at (next-single-property-change at 'face nil end))))
      (nreverse headings))))

(defun hive-fold--lines (from to)
  "Return how many lines the text between FROM, in a heading, and TO has below it.
Blank lines at the end do not count."
  (save-excursion
    (goto-char to)
    (skip-chars-backward " \t\n" from)
    (let ((end (point)))
      (goto-char from)
      (if (<= end (line-end-position)) 0 (count-lines (line-beginning-position 2) end)))))

(defun hive-fold--section (headings)
  "Return how many lines the section of the first of HEADINGS has."
  (hive-fold--lines (caar headings)
                    (or (car (cl-find-if (lambda (heading) (<= (cdr heading) (cdar headings))) (cdr headings)))
                        (cdr hive-fold--area))))

;;;;; Hiding and showing

(defun hive-fold--print ()
  "Hide what is folded, and show the rest."
  (when hive-fold--area
    (remove-overlays (car hive-fold--area) (cdr hive-fold--area) 'invisible 'hive-fold)
    (cl-loop for (at) in (and hive-fold--folded (hive-fold--headings)) for number from 0
             for lines = (alist-get number hive-fold--folded)
             when lines do (hive-fold--hide at lines))))

(defun hive-fold--hide (at lines)
  "Hide the number of LINES below the heading AT."
  (save-excursion
    (goto-char at)
    (let ((overlay (make-overlay (line-end-position) (line-end-position (1+ lines)))))
      (overlay-put overlay 'evaporate t)
      (overlay-put overlay 'invisible 'hive-fold)
      (overlay-put overlay 'isearch-open-invisible #'hive-fold--show-overlay)
      (overlay-put overlay 'after-string
                   (propertize
                    (hive-words " … %s" (hive-count lines "line")) 'face 'hive-shadow)))))

(defun hive-fold--show-overlay (overlay)
  "Show what OVERLAY hides."
  (let ((number (cl-position (save-excursion (goto-char (overlay-start overlay)) (line-beginning-position))
                             (hive-fold--headings) :key #'car)))
    (setq hive-fold--folded (assq-delete-all number hive-fold--folded))
    (hive-fold--print)))

(defun hive-fold-reveal ()
  "Show the section that point is in."
  (dolist (overlay (overlays-at (point)))
    (when (eq (overlay-get overlay 'invisible) 'hive-fold) (hive-fold--show-overlay overlay))))

(defun hive-fold-show-all ()
  "Show all of the text."
  (setq hive-fold--folded nil hive-fold--read t)
  (hive-fold--print))

(defun hive-fold--bodies ()
  "Hide everything but the headings."
  (setq hive-fold--folded
        (cl-loop for (heading . more) on (hive-fold--headings) for number from 0
                 for lines = (hive-fold--lines (car heading) (or (caar more) (cdr hive-fold--area)))
                 unless (zerop lines) collect (cons number lines)))
  (hive-fold--print))

;;;;; In a buffer

(defun hive-fold-set-up (begin end)
  "Let the human fold the sections between BEGIN and END; nil means none.
What was folded in the same text stays folded."
  (setq hive-fold--area (and begin (cons (copy-marker begin) (copy-marker end))))
  (when begin
    (let ((text (buffer-substring-no-properties begin end)))
      (if (equal text hive-fold--text)
          (hive-fold--print)
        (setq hive-fold--text text
              hive-fold--folded nil)
        (when (and hive-fold-lines (not hive-fold--read)
                   (> (count-lines begin end) hive-fold-lines)
                   (cdr (hive-fold--headings)))
          (hive-fold--bodies))))))

(defun hive-fold-here-p ()
  "Return non-nil if point is on a heading whose section can be folded."
  (let ((here (line-beginning-position)))
    (and hive-fold--area
         (<= (car hive-fold--area) here (cdr hive-fold--area))
         (eq 'hive-prompt-heading (get-text-property here 'face)))))

(defun hive-fold-toggle ()
  "Fold the section whose heading is at point; if some of it is hidden, show it."
  (let* ((here (line-beginning-position))
         (headings (hive-fold--headings))
         (number (cl-position here headings :key #'car))
         (below (nthcdr number headings))
         (lines (hive-fold--section below))
         (inside (cl-loop for (at) in below for one from number
                          while (<= (count-lines here at) lines) collect one))
         (hidden (cl-intersection inside (mapcar #'car hive-fold--folded))))
    (when (zerop lines) (hive-fail "There is nothing below this heading"))
    (setq hive-fold--folded (cl-remove-if (lambda (fold) (memq (car fold) inside)) hive-fold--folded))
    (unless hidden (push (cons number lines) hive-fold--folded))
    (hive-fold--print)))

(defun hive-fold-toggle-all ()
  "Show only the headings; if something is hidden, show everything."
  (if hive-fold--folded (hive-fold-show-all)
    (hive-fold--bodies)))

(provide 'hive-markdown)
;;; hive-markdown.el ends here
