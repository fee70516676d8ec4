;;; hive-fold.el --- Folding a long text by its headings  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Author: The Hive contributors

;;; Commentary:

;; The sections of a context, which begin with a Markdown heading, can be
;; folded; behind the heading is then how many lines are hidden.  A long context
;; opens with only its headings.  What a permission says is never folded.
;;
;; A heading is what hive-markdown has coloured as one, so a line in a code
;; block is none.  No mode reads the text.

;;; Code:

(require 'cl-lib)
(require 'hive-messages)
(require 'hive-text)

(defcustom hive-fold-lines 100
  "A context with more lines than this opens with only its headings.
nil means that all of it is shown."
  :type '(choice (natnum :tag "Lines") (const :tag "Never" nil))
  :group 'hive)

(defvar-local hive-fold--area nil "Where the text is, a cons of markers, or nil.")
(defvar-local hive-fold--text nil "The text.")
(defvar-local hive-fold--folded nil
  "What is hidden: an alist of the number of a heading and how many lines.")
(defvar-local hive-fold--read nil "Non-nil if the human has shown all of it.")

;;;; Sections

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

;;;; Hiding and showing

(defun hive-fold--print ()
  "Hide what is folded, and show the rest."
  (when hive-fold--area
    (remove-overlays (car hive-fold--area) (cdr hive-fold--area) 'invisible 'hive-fold)
    (cl-loop for (at) in (and hive-fold--folded (hive-fold--headings)) for number from 0
             for lines = (alist-get number hive-fold--folded)
             when lines do (hive-fold--hide at lines))))

(defun hive-fold--hide (at lines)
  "Hide so many LINES below the heading AT."
  (save-excursion
    (goto-char at)
    (let ((overlay (make-overlay (line-end-position) (line-end-position (1+ lines)))))
      (overlay-put overlay 'evaporate t)
      (overlay-put overlay 'invisible 'hive-fold)
      (overlay-put overlay 'isearch-open-invisible #'hive-fold--show-overlay)
      (overlay-put overlay 'after-string
                   (propertize (hive-words 'fold-hidden (hive-count lines "line")) 'face 'hive-shadow)))))

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

;;;; In a buffer

(defun hive-fold-prepare ()
  "Prepare this buffer for what `hive-fold-set-up' folds."
  (add-to-invisibility-spec 'hive-fold))

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
    (when (zerop lines) (hive-fail 'fold-empty))
    (setq hive-fold--folded (cl-remove-if (lambda (fold) (memq (car fold) inside)) hive-fold--folded))
    (unless hidden (push (cons number lines) hive-fold--folded))
    (hive-fold--print)))

(defun hive-fold-toggle-all ()
  "Show only the headings; if something is hidden, show everything."
  (if hive-fold--folded (hive-fold-show-all)
    (hive-fold--bodies)))

(provide 'hive-fold)
;;; hive-fold.el ends here
