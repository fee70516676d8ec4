;;; hive-list-table.el --- Printing the list of questions  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; How rows look and how the table follows what it shows: only the lines that
;; changed are printed, and point stays on its question in every window.

;;; Code:

(require 'cl-lib)
(require 'hive-feed)
(require 'hive-human)
(require 'hive-list-view)
(require 'hive-respond)
(require 'hive-sidecar)
(require 'hive-text)
(require 'hive-waiting)
(require 'tabulated-list)

(defface hive-list-critical '((t :inherit error))
  "Questions that are critical."
  :group 'hive)

(defface hive-list-low '((t :inherit shadow))
  "Questions that are not urgent, that you put away, or for others."
  :group 'hive)

(defface hive-list-marked '((t :inherit (bold warning)))
  "The mark of a question that will be answered together with others."
  :group 'hive)

(defvar-local hive-list--shown nil "The prompts that are shown, in order.")
(defvar-local hive-list--stale nil "Non-nil when the model has changed since.")
(defvar-local hive-list--marks nil "Hash table of the ids that are marked.")

;;;; Rows

(defconst hive-list--narrow 80
  "In a window with fewer columns than this, some are left out.")

(defvar-local hive-list--few nil "Non-nil while source, project and kind are left out.")

(defun hive-list--columns (all)
  "Return those of ALL, one for each column, that are shown, as a vector."
  (pcase-let ((`(,sign ,agent ,source ,project ,kind . ,rest) all))
    (vconcat (list sign agent) (unless hive-list--few (list source project kind)) rest)))

(defun hive-list--format ()
  "Return the columns of the view that is shown."
  (hive-list--columns
   (list '("" 1 nil) '("Agent" 16 t) '("Source" 6 t) '("Project" 16 t) '("Kind" 4 t)
         '("Age" 5 nil :right-align t)
         (list (if (eq hive-list--view 'waiting) "Expires" "Ended") 7 nil :right-align t)
         (list (if (eq hive-list--view 'waiting) "Question" "Outcome, question") 0 t))))

(defun hive-list--fit (&rest _)
  "Show the columns for which the narrowest window of the list has room."
  (let* ((windows (get-buffer-window-list nil nil t))
         (few (and windows
                   (< (apply #'min (mapcar #'window-width windows)) hive-list--narrow))))
    (when (and windows (not (eq few hive-list--few)))
      (setq hive-list--few few
            tabulated-list-format (hive-list--format))
      (unless (cl-find (car tabulated-list-sort-key) tabulated-list-format
                       :key #'car :test #'equal)
        (setq tabulated-list-sort-key nil))
      (tabulated-list-init-header)
      (hive-list--print))))

(defun hive-list--face (prompt)
  "Return the face of the row of PROMPT."
  (cond ((not (hive-prompt-pending-p prompt)) 'default)
        ((or (hive-prompt-snoozed-p prompt) (not (hive-human-mine-p prompt))) 'hive-list-low)
        (t (pcase (hive-prompt-rank prompt)
             (0 'hive-list-critical) (2 'hive-list-low) (_ 'default)))))

(defun hive-list--sign (prompt)
  "Return the first column of PROMPT, one character."
  (if (hive-prompt-snoozed-p prompt) "z"
    (pcase (hive-prompt-rank prompt) (0 "!") (2 "·") (_ " "))))

(defun hive-list--outcome (prompt)
  "Return what became of PROMPT in a few words, or nil when nothing is to be said."
  (let* ((late (plist-get prompt :late_response))
         (answer (or late (and (plist-get prompt :decision) prompt)))
         (by (lambda (thing) (hive-text-line (or (plist-get thing :by) "") 30))))
    ;; An expired or cancelled question has no decision: what came late is called so.
    (cond (answer (format "%s%s (%s)" (if late "late: " "")
                          (hive-text-line (plist-get answer :decision) 60)
                          (funcall by answer)))
          ((equal (plist-get prompt :status) "cancelled")
           (concat "cancelled"
                   (if (plist-get prompt :by) (concat " by " (funcall by prompt)) "")
                   ;; That a human did it, the name says.
                   (if (member (plist-get prompt :cancel_reason) '(nil "human" "unknown")) ""
                     (format " (%s)" (string-replace
                                      "_" " " (hive-text-line (plist-get prompt :cancel_reason)
                                                              30)))))))))

(defun hive-list--question (prompt)
  "Return the last column of PROMPT: what was decided, then the question.
In this order, since the end of a long question is out of sight."
  (let ((question (hive-text-line (plist-get prompt :question) 200))
        (outcome (hive-list--outcome prompt)))
    (if outcome (concat "→ " outcome "  " question)
      (concat (hive-human-note prompt) question))))

(defun hive-list--row (prompt)
  "Return the row of PROMPT, as `tabulated-list-entries' wants it."
  (let ((face (hive-list--face prompt)))
    (cl-flet ((cell (text) (propertize text 'face face)))
      (list (plist-get prompt :ask_id)
            (hive-list--columns
             (list (cell (hive-list--sign prompt))
                   (cell (if hive-list--few (hive-text-agent prompt 30)
                           ;; Beside it is a column of sources.
                           (hive-text-line (plist-get prompt :agent) 30)))
                   (cell (hive-text-line (plist-get prompt :source) 6))
                   (cell (hive-text-line (plist-get prompt :project) 30))
                   (cell (if (equal (plist-get prompt :kind) "permission") "perm" ""))
                   (cell (hive-text-age (plist-get prompt :created_at)))
                   (cell (if (hive-prompt-pending-p prompt)
                             (hive-text-until (plist-get prompt :expires_at))
                           (hive-text-age (plist-get prompt :settled_at))))
                   (cell (hive-list--question prompt))))))))

(defun hive-list--print-row (id columns)
  "Print the row of ID with COLUMNS, and its mark."
  (tabulated-list-print-entry id columns)
  (when (gethash id hive-list--marks)
    (forward-line -1)
    (tabulated-list-put-tag (propertize ">" 'face 'hive-list-marked))
    (forward-line 1)))

(defun hive-list--wanted ()
  "Return a new list of what should be shown, most urgent first."
  (let ((prompts (hive-list-source)))
    (if (nthcdr hive-list-rows prompts)
        (cl-subseq prompts 0 hive-list-rows)
      (copy-sequence prompts))))

;;;; Printing

(defun hive-list--print ()
  "Print the list anew, and leave each window in its place."
  (let ((places (hive-list--places)))
    (setq hive-list--shown (hive-list--wanted)
          hive-list--stale nil)
    ;; Collecting garbage five times over costs more than the printing.
    (let ((gc-cons-threshold (max gc-cons-threshold (* 32 1024 1024))))
      (tabulated-list-print t))
    (hive-list--count)
    (hive-list--restore places)))

(defun hive-list--update ()
  "Change the lines that changed and no other.
Printing 500 rows takes as long as a dozen keys; one takes none."
  (if tabulated-list-sort-key           ; the human wants another order
      (hive-list--print)
    (let* ((inhibit-read-only t)
           (places (hive-list--places))
           (new (hive-list-source)) (room hive-list-rows)
           ;; The shown list is changed as its lines are: nothing is copied.
           (head (cons nil hive-list--shown)) (cell head))
      (save-excursion
        (goto-char (point-min))
        (while (or (cdr cell) (and new (> room 0)))
          (let ((old (cadr cell))
                (want (and (> room 0) (car new))))
            (if (and old (not (eq old want))
                     (or (null want) (eq (caddr cell) want) (not (memq old new))))
                (progn
                  (delete-region (point) (line-beginning-position 2))
                  (setcdr cell (cddr cell)))
              (if (eq old want)
                  (forward-line 1)
                (apply #'hive-list--print-row (hive-list--row want))
                (setcdr cell (cons want (cdr cell))))
              (setq cell (cdr cell) new (cdr new) room (1- room))))))
      (setq hive-list--shown (cdr head)
            hive-list--stale nil)
      (hive-list--count)
      (hive-list--restore places))))

(defun hive-list--places ()
  "Return where each window stands: a list of window, id and column.
Point itself stands there with nil as its window."
  (let ((place (lambda (window position)
                 (save-excursion
                   (goto-char position)
                   (list window (tabulated-list-get-id) (current-column))))))
    (cons (funcall place nil (point))
          (mapcar (lambda (window) (funcall place window (window-point window)))
                  (remq (selected-window) (get-buffer-window-list nil nil t))))))

(defun hive-list--restore (places)
  "Let each of PLACES stand on its question again, if that is still shown."
  (pcase-dolist (`(,window ,id ,column) places)
    (let ((position (if window (window-point window) (point))))
      (when id
        (save-excursion
          (goto-char position)
          (unless (equal id (tabulated-list-get-id))
            (goto-char (or (hive-list--position id) position)))
          (when (equal id (tabulated-list-get-id))
            (move-to-column column)
            (setq position (point))))
        (if window (set-window-point window position) (goto-char position))))))

(defun hive-list--nothing ()
  "Return why the list is empty, in a sentence, or nil while it may still fill."
  (or (hive-sidecar-absence)
      (and (eq hive-list--view 'waiting) (null hive-list--filter) (hive-feed-complete-p)
           "No question waits.")))

(defun hive-list--say-nothing ()
  "Say in an empty list why it is empty; in any other, nothing.
It is no text of the list: nothing can be on that line."
  (let ((text (and (null hive-list--shown) (hive-list--nothing))))
    (remove-overlays (point-min) (point-max) 'hive-nothing t)
    (when text
      (let ((overlay (make-overlay (point-min) (point-min))))
        (overlay-put overlay 'hive-nothing t)
        (overlay-put overlay 'after-string
                     (propertize (concat " " text) 'face 'hive-list-low 'cursor t))))))

(defun hive-list--count ()
  "Show in the mode line what is shown, and how much of it."
  (hive-list--say-nothing)
  (let ((marked (hash-table-count hive-list--marks)))
    (setq mode-line-process
          ;; A percent sign in a mode line is a directive.
          (string-replace
           "%" "%%"
           (concat (hive-list-view-name (length hive-list--shown))
                   (if (> marked 0) (format " %d marked" marked) ""))))))

(defun hive-list--position (id)
  "Return where the row of ID begins, or nil."
  (save-excursion
    (goto-char (point-min))
    (while (not (or (eobp) (equal id (tabulated-list-get-id))))
      (forward-line 1))
    (and (not (eobp)) (point))))

(provide 'hive-list-table)
;;; hive-list-table.el ends here
