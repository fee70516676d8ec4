;;; hive-list-view.el --- What the list of questions shows  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; Which questions the list shows, and how: views, filters and pages, the row
;; of each question, and printing that leaves point in every window on its
;; question.  The commands are in hive-list.

;;; Code:

(require 'cl-lib)
(require 'hive-human)
(require 'hive-messages)
(require 'hive-model)
(require 'hive-notify)
(require 'hive-read)
(require 'hive-rpc)
(require 'hive-text)
(require 'subr-x)
(require 'tabulated-list)

;;;; Views, filters and pages

;; A view is a status; a filter narrows it to an agent, a project, a kind, a
;; recipient or a text.  Pending questions come from the model; settled ones
;; are fetched from the store, page by page.

(defconst hive-list-rows 500
  "How many rows a page has; printing 10,000 takes over a second.")

(defconst hive-list-views
  '((waiting . "pending") (answered . "responded") (late . "late")
    (expired . "expired") (cancelled . "cancelled"))
  "The views in the order of their keys, each with its status in requests.")

(defvar-local hive-list--view 'waiting "The current view.")
(defvar-local hive-list--filter nil
  "The filter: a plist of :agent, :project, :kind, :to and :query.")
(defvar-local hive-list--offset 0 "How many rows are on the pages before this one.")
(defvar-local hive-list--page nil "The settled questions on this page.")
(defvar-local hive-list--total nil "How many questions the view and the filter select.")
(defvar-local hive-list--cursors nil
  "The cursors of this page and the pages before it, newest first.")
(defvar-local hive-list--next nil "The cursor of the next page.")
(defvar-local hive-list--asked 0 "The number of the last fetch; the results of earlier ones are ignored.")

(defun hive-list-source ()
  "Return the questions from this page on, in order.
The list may be shared: do not modify it."
  (cond ((not (eq hive-list--view 'waiting)) hive-list--page)
        (hive-list--filter (hive-list--matching))
        (t (setq hive-list--total (length (hive-prompts)))
           (nthcdr hive-list--offset (hive-prompts)))))

(defun hive-list--matching ()
  "Return the pending questions that pass the filter, from this page on."
  (let ((all (cl-remove-if-not #'hive-list--match-p (hive-prompts))))
    (setq hive-list--total (length all))
    (nthcdr hive-list--offset all)))

(defun hive-list--match-p (prompt)
  "Return non-nil if PROMPT passes the filter."
  (cl-loop for (key value) on hive-list--filter by #'cddr
           always (pcase key
                    (:query (hive-list--text-p prompt value))
                    (:to (hive-list--for-p prompt value))
                    (_ (equal value (plist-get prompt key))))))

(defun hive-list--for-p (prompt name)
  "Return non-nil if PROMPT is for NAME, a human or a team."
  (and (plist-get prompt :to)
       (or (string-equal (downcase name) (downcase (plist-get prompt :to)))
           (member (downcase name) (append (plist-get prompt :recipients) nil)))))

(defun hive-list--text-p (prompt text)
  "Return non-nil if TEXT is in PROMPT, ignoring case."
  (let ((case-fold-search t) (regexp (regexp-quote text)))
    (cl-some (lambda (key)
               (let ((value (plist-get prompt key)))
                 (and (stringp value) (string-match-p regexp value))))
             '(:question :header :context))))

(defun hive-list-view-name (shown)
  "Return the text of the mode line when SHOWN rows are printed."
  (let ((total (or hive-list--total shown)))
    (concat (if (eq hive-list--view 'waiting) "" (format " %s" hive-list--view))
            (cond ((> hive-list--offset 0)
                   (hive-words 'list-range (1+ hive-list--offset)
                               (+ hive-list--offset shown) total))
                  ((> total shown) (hive-words 'list-part shown total))
                  (t (format " %d" total)))
            (cl-loop for (key value) on hive-list--filter by #'cddr
                     concat (format " %s:%s" (substring (symbol-name key) 1)
                                    (hive-text-line value 30))))))

;;;; Fetching settled questions

(defun hive-list-fetch (then)
  "Fetch this page of settled questions.
Call THEN in the list's buffer when it has arrived."
  (let ((buffer (current-buffer)) (ticket (cl-incf hive-list--asked)))
    (hive-rpc-request
     'prompt/list
     `( :status ,(alist-get hive-list--view hive-list-views) :limit ,hive-list-rows
        ,@hive-list--filter
        ,@(when (car hive-list--cursors) (list :cursor (car hive-list--cursors))))
     :timeout 30
     :success (lambda (result)
                (when (buffer-live-p buffer)
                  (with-current-buffer buffer
                    (when (= ticket hive-list--asked)
                      (setq hive-list--page (append (plist-get result :prompts) nil)
                            hive-list--next (plist-get result :next_cursor)
                            hive-list--total (plist-get result :total))
                      (funcall then)))))
     :error (lambda (err)
              (hive-announce 'list-fetch-failed (hive-text-line (plist-get err :text) 200))))))

;;;; Changing view and page

(defun hive-list-view-set (view filter)
  "Set the view to VIEW with FILTER, at its first page."
  (setq hive-list--view view
        hive-list--filter filter
        hive-list--offset 0
        hive-list--page nil
        hive-list--total nil
        hive-list--cursors nil
        hive-list--next nil)
  (cl-incf hive-list--asked))           ; ignore a fetch under way

(defun hive-list-page-turn (forward)
  "Go to the next page if FORWARD, else to the previous one.
Return nil if there is none."
  (cond ((and forward (eq hive-list--view 'waiting))
         (when (< (+ hive-list--offset hive-list-rows) (or hive-list--total 0))
           (cl-incf hive-list--offset hive-list-rows)))
        (forward
         (when hive-list--next
           (push hive-list--next hive-list--cursors)
           (cl-incf hive-list--offset (length hive-list--page))))
        ((> hive-list--offset 0)
         (pop hive-list--cursors)
         (setq hive-list--offset (max 0 (- hive-list--offset hive-list-rows)))
         t)))

;;;; Faces

(defface hive-list-critical '((t :inherit error))
  "Questions that are critical."
  :group 'hive)

(defface hive-list-low '((t :inherit shadow))
  "Questions that are not urgent, snoozed, or for others."
  :group 'hive)

(defface hive-list-marked '((t :inherit (bold warning)))
  "The mark of a question."
  :group 'hive)

;;;; Rows

(defvar-local hive-list--shown nil "The prompts that are shown, in order.")
(defvar-local hive-list--stale nil "Non-nil when the model has changed since the last printing.")
(defvar-local hive-list--marks nil "Hash table of the ids that are marked.")

(defconst hive-list--narrow 80
  "In a window narrower than this, some columns are left out.")

(defvar-local hive-list--few nil "Non-nil while source, project and kind are left out.")

(defun hive-list--columns (all)
  "Return the items of ALL, one per column, that are shown, as a vector."
  (pcase-let ((`(,sign ,agent ,source ,project ,kind . ,rest) all))
    (vconcat (list sign agent) (unless hive-list--few (list source project kind)) rest)))

(defun hive-list--format ()
  "Return the columns of the current view."
  (hive-list--columns
   `(("" 1 nil)
     (,(hive-words 'column-agent) 16 t)
     (,(hive-words 'column-source) 6 t)
     (,(hive-words 'column-project) 16 t)
     (,(hive-words 'column-kind) 4 t)
     (,(hive-words 'column-age) 5 nil :right-align t)
     ,@(if (eq hive-list--view 'waiting)
           `((,(hive-words 'column-expires) 7 nil :right-align t)
             (,(hive-words 'column-question) 0 t))
         `((,(hive-words 'column-ended) 7 nil :right-align t)
           (,(hive-words 'column-outcome) 0 t))))))

(defun hive-list--fit (&rest _)
  "Show the columns that fit into the narrowest window of the list."
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
  "Return the outcome of PROMPT in a few words, or nil if there is none."
  (let* ((late (plist-get prompt :late_response))
         (answer (or late (and (plist-get prompt :decision) prompt)))
         (by (lambda (thing) (hive-text-line (or (plist-get thing :by) "") 30))))
    ;; An expired or cancelled question has no decision, but may have a late answer.
    (cond (answer (hive-words (if late 'list-outcome-late 'list-outcome)
                              (hive-text-line (plist-get answer :decision) 60)
                              (hive-text-by answer 30)))
          ((equal (plist-get prompt :status) "cancelled")
           (concat (if (plist-get prompt :by) (hive-words 'event-cancelled (funcall by prompt))
                     (hive-words 'fate-cancelled))
                   ;; The name already says that a human did it.
                   (if (member (plist-get prompt :cancel_reason) '(nil "human" "unknown")) ""
                     (format " (%s)" (string-replace
                                      "_" " " (hive-text-line (plist-get prompt :cancel_reason)
                                                              30)))))))))

(defun hive-list--question (prompt)
  "Return the last column of PROMPT: the outcome, then the question.
In this order, as the end of a long question is cut off."
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
                           ;; There is a column for the source.
                           (hive-text-line (plist-get prompt :agent) 30)))
                   (cell (hive-text-line (plist-get prompt :source) 6))
                   (cell (hive-text-line (plist-get prompt :project) 30))
                   (cell (if (hive-permission-p prompt) (hive-words 'list-permission) ""))
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
  "Return a new list of the questions on this page."
  (let ((prompts (hive-list-source)))
    (if (nthcdr hive-list-rows prompts)
        (cl-subseq prompts 0 hive-list-rows)
      (copy-sequence prompts))))

;;;; Printing

(defun hive-list--print ()
  "Print the list; each window stays on its question."
  (let ((places (hive-list--places)))
    (setq hive-list--shown (hive-list--wanted)
          hive-list--stale nil)
    ;; Collecting garbage five times over costs more than the printing.
    (let ((gc-cons-threshold (max gc-cons-threshold (* 32 1024 1024))))
      (tabulated-list-print t))
    (hive-list--count)
    (hive-list--restore places)))

(defun hive-list--update ()
  "Update only the lines that changed.
Printing 500 rows takes as long as a dozen keys; one row takes none."
  (if tabulated-list-sort-key           ; the human has sorted the list
      (hive-list--print)
    (let* ((inhibit-read-only t)
           (places (hive-list--places))
           (new (hive-list-source)) (room hive-list-rows)
           ;; Change the list in place, along with its lines.
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
  "Return the place of each window: a list of window, id and column.
The place of point has nil as its window."
  (let ((place (lambda (window position)
                 (save-excursion
                   (goto-char position)
                   (list window (tabulated-list-get-id) (current-column))))))
    (cons (funcall place nil (point))
          (mapcar (lambda (window) (funcall place window (window-point window)))
                  (remq (selected-window) (get-buffer-window-list nil nil t))))))

(defun hive-list--restore (places)
  "Return each window of PLACES to its question, if that is still shown."
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
  "Return a sentence on why the list is empty, or nil while it is loading."
  (or (hive-sidecar-absence)
      (and (eq hive-list--view 'waiting) (null hive-list--filter) (hive-model-complete-p)
           (hive-words 'list-empty))))

(defun hive-list--say-nothing ()
  "Show in an empty list why it is empty.
This is an overlay, so that there is no line for point to be on."
  (let ((text (and (null hive-list--shown) (hive-list--nothing))))
    (remove-overlays (point-min) (point-max) 'hive-nothing t)
    (when text
      (let ((overlay (make-overlay (point-min) (point-min))))
        (overlay-put overlay 'hive-nothing t)
        (overlay-put overlay 'after-string
                     (propertize (concat " " text) 'face 'hive-list-low 'cursor t))))))

(defun hive-list--count ()
  "Show the view, the filter and the counts in the mode line."
  (hive-list--say-nothing)
  (let ((marked (hash-table-count hive-list--marks)))
    (setq mode-line-process
          ;; A percent sign in a mode line is a directive.
          (string-replace
           "%" "%%"
           (concat (hive-list-view-name (length hive-list--shown))
                   (if (> marked 0) (hive-words 'list-marked marked) ""))))))

(defun hive-list--position (id)
  "Return where the row of ID begins, or nil."
  (save-excursion
    (goto-char (point-min))
    (while (not (or (eobp) (equal id (tabulated-list-get-id))))
      (forward-line 1))
    (and (not (eobp)) (point))))

(provide 'hive-list-view)
;;; hive-list-view.el ends here
