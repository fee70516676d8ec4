;;; hive-list.el --- The list of questions  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; `hive-list' shows the pending questions in a table that follows the model;
;; other keys show those that were answered, answered late, expired or
;; cancelled.  Filters narrow the list, and marked questions are answered
;; with one decision.  Point stays on its question in every window.

;;; Code:

(require 'cl-lib)
(require 'hive-human)
(require 'hive-interrupt)
(require 'hive-messages)
(require 'hive-model)
(require 'hive-notify)
(require 'hive-prompt)
(require 'hive-read)
(require 'hive-respond)
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
                   (format " %d-%d of %d" (1+ hive-list--offset)
                           (+ hive-list--offset shown) total))
                  ((> total shown) (format " %d of %d" shown total))
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
   (list '("" 1 nil) '("Agent" 16 t) '("Source" 6 t) '("Project" 16 t) '("Kind" 4 t)
         '("Age" 5 nil :right-align t)
         (list (if (eq hive-list--view 'waiting) "Expires" "Ended") 7 nil :right-align t)
         (list (if (eq hive-list--view 'waiting) "Question" "Outcome, question") 0 t))))

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
    (cond (answer (format "%s%s (%s)" (if late "late: " "")
                          (hive-text-line (plist-get answer :decision) 60)
                          (hive-text-by answer 30)))
          ((equal (plist-get prompt :status) "cancelled")
           (concat "cancelled"
                   (if (plist-get prompt :by) (concat " by " (funcall by prompt)) "")
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
      (and (eq hive-list--view 'waiting) (null hive-list--filter) (hive-feed-complete-p)
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
                   (if (> marked 0) (format " %d marked" marked) ""))))))

(defun hive-list--position (id)
  "Return where the row of ID begins, or nil."
  (save-excursion
    (goto-char (point-min))
    (while (not (or (eobp) (equal id (tabulated-list-get-id))))
      (forward-line 1))
    (and (not (eobp)) (point))))

;;;; Commands for views, filters and pages

(defun hive-list--renew ()
  "Update this page, fetching it if need be."
  (if (eq hive-list--view 'waiting)
      (hive-list--update)
    (hive-list-fetch #'hive-list--update)))

(defun hive-list--go (view filter)
  "Show VIEW with FILTER."
  (hive-list-view-set view filter)
  (setq tabulated-list-format (hive-list--format))
  (tabulated-list-init-header)
  (clrhash hive-list--marks)
  (hive-list--print)
  (goto-char (point-min))
  (unless (eq view 'waiting) (hive-list--renew)))

(defun hive-list-choose-view ()
  "Show the view whose number was pressed."
  (interactive nil hive-list-mode)
  (hive-list--go (car (nth (- last-command-event ?1) hive-list-views)) hive-list--filter))

(defun hive-list--filter-by (key value)
  "Show only questions with VALUE for KEY; with an empty VALUE, all."
  (let ((filter (copy-sequence hive-list--filter)))
    (cl-remf filter key)
    (hive-list--go hive-list--view
                   (if (string-empty-p value) filter
                     (append filter (list key (hive-text-sendable value)))))))

(defun hive-list--known (key)
  "Return the distinct values of KEY in the shown and the pending questions."
  (let ((seen (make-hash-table :test #'equal)) values)
    (dolist (prompts (list hive-list--shown (hive-prompts)))
      (dolist (prompt prompts)
        (let ((value (plist-get prompt key)))
          (unless (gethash value seen)
            (puthash value t seen)
            (push value values)))))
    (nreverse values)))

(defun hive-list-filter-agent (agent)
  "Show only the questions from AGENT; if empty, from all agents.
The beginning of a name is enough."
  (interactive (list (completing-read (hive-words 'which-agent) (hive-list--known :agent)))
               hive-list-mode)
  (hive-list--filter-by :agent (hive-handles-expand agent (hive-list--known :agent))))

(defun hive-list-filter-project (project)
  "Show only the questions from PROJECT; if empty, from all projects."
  (interactive (list (completing-read (hive-words 'which-project) (hive-list--known :project)))
               hive-list-mode)
  (hive-list--filter-by :project project))

(defun hive-list-filter-kind (kind)
  "Show only the questions of KIND; if empty, of all kinds."
  (interactive (list (completing-read (hive-words 'which-kind) '("question" "permission") nil t)) hive-list-mode)
  (hive-list--filter-by :kind kind))

(defun hive-list-filter-text (text)
  "Show only the questions that contain TEXT; if empty, all."
  (interactive (list (read-string (hive-words 'which-text))) hive-list-mode)
  (hive-list--filter-by :query text))

(defun hive-list-filter-for (name)
  "Show only the questions for NAME, a human or a team; if empty, all."
  (interactive (list (completing-read (hive-words 'which-recipient)
                                      (append (delq nil (hive-list--known :to))
                                              (list (hive-human-name)))))
               hive-list-mode)
  (hive-list--filter-by :to name))

(defun hive-list-filter-none ()
  "Remove all filters."
  (interactive nil hive-list-mode)
  (hive-list--go hive-list--view nil))

(defun hive-list--turn (forward)
  "Turn the page, to the next if FORWARD."
  (unless (hive-list-page-turn forward)
    (hive-fail (if forward 'last-page 'first-page)))
  (goto-char (point-min))
  (if (eq hive-list--view 'waiting) (hive-list--print) (hive-list--renew))
  (goto-char (point-min)))

(defun hive-list-next-page ()
  "Show the next page."
  (interactive nil hive-list-mode)
  (hive-list--turn t))

(defun hive-list-previous-page ()
  "Show the previous page."
  (interactive nil hive-list-mode)
  (hive-list--turn nil))

;;;; Answering the marked questions

;; Marked questions are answered with one decision.  The choices are the
;; options that all of them have, and free text if all of them allow it.  Each
;; question gets an answer of its own.

(defun hive-list--labels (prompt)
  "Return the labels of the options of PROMPT."
  (mapcar (lambda (option) (plist-get option :label)) (plist-get prompt :options)))

(defun hive-list-mark-common (questions)
  "Return one question in place of all QUESTIONS, for `hive-read-answer'.
Signal a `user-error' if no answer would fit them all."
  (let* ((first (car questions))
         (common (cl-remove-if-not
                  (lambda (option)
                    (cl-every (lambda (prompt)
                                (member (plist-get option :label) (hive-list--labels prompt)))
                              questions))
                  (append (plist-get first :options) nil)))
         (free (cl-every (lambda (prompt) (hive-rpc-true-p prompt :allow_free_text)) questions)))
    (unless (or common free)
      (hive-fail 'batch-nothing-common))
    (list :ask_id (plist-get first :ask_id)
          :lead (hive-list--lead questions)
          :question (mapconcat (lambda (prompt)
                                 (concat (hive-text-agent prompt 20) ": "
                                         (hive-text-line (plist-get prompt :question) 60)))
                               questions " · ")
          :options (vconcat common)
          :multi_select :json-false
          :allow_free_text (if free t :json-false))))

(defun hive-list--lead (questions)
  "Return the beginning of the minibuffer prompt for QUESTIONS."
  (let ((permissions (cl-count-if #'hive-permission-p questions)))
    (hive-words 'batch-lead (hive-count (length questions) "question")
                (if (> permissions 0)
                    (propertize (hive-words 'batch-permissions
                                            (hive-count permissions "PERMISSION" "PERMISSIONS"))
                                'face 'warning)
                  ""))))

(defun hive-list--confirm (questions decision)
  "Let the human confirm DECISION if it may permit something of QUESTIONS."
  (let ((permissions (cl-count-if (lambda (prompt) (hive-permission-confirmed-p prompt decision))
                                  questions)))
    (unless (or (zerop permissions)
                (y-or-n-p (hive-words 'batch-permissions? (hive-count permissions "permission")
                                      (hive-text-line decision 60))))
      (hive-fail 'still-all-pending))))

(defun hive-list-mark-answer (questions)
  "Read one decision, and answer QUESTIONS with it.
A decision that may grant a permission is confirmed first."
  (setq questions (mapcar #'hive-respond-open questions))
  (mapc #'hive-respond-seen questions)
  (let ((answer (hive-read-answer (hive-list-mark-common questions))))
    (when (hive-respond-empty-p answer)
      (hive-fail 'still-all-pending))
    (hive-list--confirm questions (plist-get answer :decision))
    (dolist (prompt questions)
      (let ((decision (plist-get answer :decision)))
        (hive-respond-send prompt
                            (if (member decision (hive-list--labels prompt))
                                (list :decision decision :selected (vector decision))
                              (list :decision decision)))))
    (hive-say 'answers-queued (length questions))))

;;;; The mode

(defconst hive-list-name "*hive*" "The name of the list's buffer.")

(defconst hive-list--pause 0.5
  "Seconds between two updates that need a search or a fetch.")

(defvar hive-list-mode-map
  (let ((map (make-sparse-keymap)) (filters (make-sparse-keymap)))
    (define-key map (kbd "RET") #'hive-list-show)
    (define-key map "a" #'hive-list-answer)
    (define-key map "c" #'hive-list-cancel)
    (define-key map "s" #'hive-list-snooze)
    (define-key map "i" #'hive-list-interrupt)
    (define-key map "j" #'hive-list-visit-terminal)
    (define-key map "m" #'hive-list-mark)
    (define-key map "u" #'hive-list-unmark)
    (define-key map "U" #'hive-list-unmark-all)
    (define-key map "g" #'hive-list-refresh)
    (define-key map ">" #'hive-list-next-page)
    (define-key map "<" #'hive-list-previous-page)
    (dotimes (n (length hive-list-views))
      (define-key map (number-to-string (1+ n)) #'hive-list-choose-view))
    (define-key filters "a" #'hive-list-filter-agent)
    (define-key filters "p" #'hive-list-filter-project)
    (define-key filters "k" #'hive-list-filter-kind)
    (define-key filters "f" #'hive-list-filter-for)
    (define-key filters "t" #'hive-list-filter-text)
    (define-key filters "/" #'hive-list-filter-none)
    (define-key map "/" filters)
    map)
  "Keymap of `hive-list-mode'.")

(defvar-local hive-list--timer nil "The timer that updates the ages.")
(defvar-local hive-list--soon nil "The timer of the next update, or nil.")

(define-derived-mode hive-list-mode tabulated-list-mode "Hive"
  "Major mode of the list of questions.
\\<hive-list-mode-map>1 to 5 show the pending, answered, late, expired and cancelled ones.
\\[hive-list-show] shows a question in full, \\[hive-list-answer] answers it, \\[hive-list-cancel] cancels it,
\\[hive-list-snooze] snoozes it; \\[hive-list-visit-terminal] goes to its agent's terminal, \\[hive-list-interrupt] interrupts
the agent.  \\[hive-list-mark] marks, \\[hive-list-unmark] and \\[hive-list-unmark-all] unmark; with marks, \\[hive-list-answer] answers all
marked questions with one decision.  \\[hive-list-filter-agent], \\[hive-list-filter-project], \\[hive-list-filter-kind], \\[hive-list-filter-for] and
\\[hive-list-filter-text] filter, \\[hive-list-filter-none] removes the filters; \\[hive-list-next-page] and \\[hive-list-previous-page] turn pages.
The list updates itself.
\\{hive-list-mode-map}"
  (setq hive-list--marks (make-hash-table :test #'equal)
        tabulated-list-format (hive-list--format)
        tabulated-list-padding 1
        tabulated-list-sort-key nil
        tabulated-list-printer #'hive-list--print-row
        tabulated-list-entries (lambda () (mapcar #'hive-list--row (hive-list--wanted)))
        ;; Right-to-left text in one column must not move the others.
        bidi-paragraph-direction 'left-to-right)
  (setq truncate-lines t)
  (tabulated-list-init-header)
  (add-hook 'window-buffer-change-functions #'hive-list--appeared nil t)
  (add-hook 'window-size-change-functions #'hive-list--resized nil t)
  (add-hook 'kill-buffer-hook #'hive-list--end nil t)
  (setq hive-list--timer (run-at-time 30 30 #'hive-list--tick (current-buffer))))

;;;; Following the model

(defconst hive-list--hooks '(hive-changed-hook hive-sidecar-state-hook)
  "The hooks that run when the list may have changed.")

(defun hive-list--changed ()
  "Update the list, or if it is out of sight, note that it is stale."
  (let ((buffer (get-buffer hive-list-name)))
    (if (not buffer)
        (dolist (hook hive-list--hooks) (remove-hook hook #'hive-list--changed))
      (with-current-buffer buffer
        (cond ((not (get-buffer-window buffer t)) (setq hive-list--stale t))
              ;; A search or a fetch covers many changes.
              ((or hive-list--filter (not (eq hive-list--view 'waiting)))
               (unless hive-list--soon
                 (setq hive-list--soon
                       (run-at-time hive-list--pause nil #'hive-list--look buffer))))
              (t (hive-list--update)))))))

(defun hive-list--look (buffer)
  "Update the list in BUFFER."
  (when (buffer-live-p buffer)
    (with-current-buffer buffer
      (setq hive-list--soon nil)
      (hive-work-guarded #'hive-list--renew))))

(defun hive-list--resized (window)
  "Fit the columns to WINDOW, if the list is in it."
  (when (window-live-p window)
    (with-current-buffer (window-buffer window)
      (when (derived-mode-p 'hive-list-mode)
        (hive-work-guarded #'hive-list--fit)))))

(defun hive-list--appeared (window)
  "Update the list when WINDOW begins to show it."
  (hive-list--resized window)
  (when (window-live-p window)
    (with-current-buffer (window-buffer window)
      (when (and (derived-mode-p 'hive-list-mode) hive-list--stale)
        (hive-list--print)))))

(defun hive-list--tick (buffer)
  "Update the ages in BUFFER while it is in a window."
  (when (and (buffer-live-p buffer) (get-buffer-window buffer t))
    (hive-work-guarded (lambda () (with-current-buffer buffer (hive-list--print))))))

(defun hive-list--end ()
  "Cancel the timers, as the buffer is being killed."
  (when hive-list--timer (cancel-timer hive-list--timer))
  (when hive-list--soon (cancel-timer hive-list--soon)))

;;;; Commands

;;;###autoload
(defun hive-list ()
  "List the questions that wait for you, and those that were settled.
\\<hive-list-mode-map>\\[hive-list-show] shows one, \\[hive-list-answer] answers it; \\[describe-mode] lists all keys."
  (interactive)
  (pop-to-buffer (hive-list-buffer)))

(defun hive-list-buffer ()
  "Return the buffer of the list, up to date."
  (let ((buffer (get-buffer-create hive-list-name)))
    (with-current-buffer buffer
      (unless (derived-mode-p 'hive-list-mode) (hive-list-mode))
      (dolist (hook hive-list--hooks) (add-hook hook #'hive-list--changed))
      (hive-list--print))
    buffer))

(defun hive-list--prompt ()
  "Return the prompt at point."
  (let ((id (tabulated-list-get-id)))
    (or (cl-find id hive-list--shown :test #'equal
                 :key (lambda (prompt) (plist-get prompt :ask_id)))
        (hive-fail 'list-none-here))))

(defun hive-list-show ()
  "Show the question at point in full."
  (interactive nil hive-list-mode)
  (hive-prompt-show (hive-list--prompt)))

(defun hive-list-answer ()
  "Answer all marked questions with one decision, or the one at point."
  (interactive nil hive-list-mode)
  (let ((marked (cl-remove-if-not (lambda (prompt)
                                    (gethash (plist-get prompt :ask_id) hive-list--marks))
                                  hive-list--shown)))
    (if (null marked)
        (hive-answer-prompt (hive-list--prompt) current-prefix-arg)
      (hive-list-mark-answer marked)
      (hive-list-unmark-all))))

(defun hive-list-cancel ()
  "Cancel the question at point: its agent gets no answer."
  (interactive nil hive-list-mode)
  (let ((prompt (hive-list--prompt)))
    (when (y-or-n-p (hive-words 'cancel-of? (hive-text-line (plist-get prompt :agent) 40)))
      (hive-cancel-prompt prompt))))

(defun hive-list-snooze (&optional minutes)
  "Snooze the question at point, with a prefix argument for MINUTES.
Without one, a question that is snoozed already is un-snoozed."
  (interactive "P" hive-list-mode)
  (hive-snooze-prompt (hive-list--prompt) (and minutes (prefix-numeric-value minutes))))

(defun hive-list-visit-terminal ()
  "Go to the terminal of the agent at point, if it is in this Emacs."
  (interactive nil hive-list-mode)
  (let ((prompt (hive-list--prompt)))
    (hive-terminal-visit (plist-get prompt :session_id) (plist-get prompt :agent))))

(defun hive-list-interrupt ()
  "Ask the agent of the question at point to stop."
  (interactive nil hive-list-mode)
  (let ((prompt (hive-list--prompt)))
    (when (y-or-n-p (hive-words 'interrupt? (hive-text-line (plist-get prompt :agent) 40)))
      (hive-interrupt-session (plist-get prompt :session_id) (plist-get prompt :agent)))))

(defun hive-list-refresh ()
  "Print the list again and fetch the questions from the sidecar."
  (interactive nil hive-list-mode)
  (hive-list--print)
  (when (hive-sidecar-connected-p)
    (if (eq hive-list--view 'waiting)
        (hive-feed-refresh)
      (hive-list--renew))))

;;;; Commands for marks

(defun hive-list--set-mark (marked)
  "Mark the question at point, or unless MARKED, unmark it; go to the next."
  (let ((id (plist-get (hive-list--prompt) :ask_id)))
    (if marked (puthash id t hive-list--marks) (remhash id hive-list--marks))
    (tabulated-list-put-tag (if marked (propertize ">" 'face 'hive-list-marked) " ") t)
    (hive-list--count)))

(defun hive-list-mark ()
  "Mark the question at point, and go to the next."
  (interactive nil hive-list-mode)
  (hive-list--set-mark t))

(defun hive-list-unmark ()
  "Unmark the question at point, and go to the next."
  (interactive nil hive-list-mode)
  (hive-list--set-mark nil))

(defun hive-list-unmark-all ()
  "Unmark all questions."
  (interactive nil hive-list-mode)
  (clrhash hive-list--marks)
  (save-excursion (tabulated-list-clear-all-tags))
  (hive-list--count))

(provide 'hive-list)
;;; hive-list.el ends here
