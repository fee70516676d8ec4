;;; hive-list.el --- All questions, and what became of them  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; A live table of what waits, and with another key each of what was
;; answered, answered late, expired and cancelled.  It follows the model;
;; point stays on its question, in every window that shows the list.

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

;;;; What the list of questions shows

;; A view is what became of the questions; a filter narrows it to an agent, a
;; project, a kind or a text; pages show so many rows at once.  What waits is
;; in the model already; what is settled is fetched from the store page by
;; page, by cursor.

(defconst hive-list-rows 500
  "How many rows are shown at most; printing 10,000 takes over a second.")

(defconst hive-list-views
  '((waiting . "pending") (answered . "responded") (late . "late")
    (expired . "expired") (cancelled . "cancelled"))
  "The views, in the order of their keys, each with its status on the wire.")

(defvar-local hive-list--view 'waiting "The view that is shown.")
(defvar-local hive-list--filter nil
  "What is shown only: a plist of :agent, :project, :kind, :to and :query.")
(defvar-local hive-list--offset 0 "How many rows come before this page.")
(defvar-local hive-list--page nil "The page that is shown of what is settled.")
(defvar-local hive-list--total nil "How many there are of what is shown.")
(defvar-local hive-list--cursors nil
  "The cursors of this page and of those before it, newest first.")
(defvar-local hive-list--next nil "The cursor of the page that follows.")
(defvar-local hive-list--asked 0 "Counts the fetches: only the newest one is shown.")

;;;; What should be shown

(defun hive-list-source ()
  "Return what should be shown, in order; more than fits may follow.
The list may be shared: do not modify it."
  (cond ((not (eq hive-list--view 'waiting)) hive-list--page)
        (hive-list--filter (hive-list--matching))
        (t (setq hive-list--total (length (hive-prompts)))
           (nthcdr hive-list--offset (hive-prompts)))))

(defun hive-list--matching ()
  "Return what waits and passes the filter, this page of it."
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
  "Return non-nil if TEXT stands in PROMPT, whatever its case."
  (let ((case-fold-search t) (regexp (regexp-quote text)))
    (cl-some (lambda (key)
               (let ((value (plist-get prompt key)))
                 (and (stringp value) (string-match-p regexp value))))
             '(:question :header :context))))

(defun hive-list-view-name (shown)
  "Return what stands in the mode line when SHOWN rows are printed."
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

;;;; Fetching what is settled

(defun hive-list-fetch (then)
  "Fetch the page at hand of a view of what is settled.
Call THEN in the list's buffer when it is here."
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

;;;; Going elsewhere

(defun hive-list-view-set (view filter)
  "Show VIEW through FILTER, from its first page on."
  (setq hive-list--view view
        hive-list--filter filter
        hive-list--offset 0
        hive-list--page nil
        hive-list--total nil
        hive-list--cursors nil
        hive-list--next nil)
  (cl-incf hive-list--asked))           ; what is on its way is unwanted

(defun hive-list-page-turn (forward)
  "Go to the next page if FORWARD, else to the one before.
Return nil when there is none."
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

;;;; Printing the list of questions

;; How rows look and how the table follows what it shows: only the lines that
;; changed are printed, and point stays on its question in every window.

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
           (hive-words 'list-empty))))

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

;;;; Views, filters and pages of the list

;; The commands that change what the list of questions shows.

;;;; Views

(defun hive-list--renew ()
  "Show the page at hand as it is now."
  (if (eq hive-list--view 'waiting)
      (hive-list--update)
    (hive-list-fetch #'hive-list--update)))

(defun hive-list--go (view filter)
  "Show VIEW through FILTER."
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

;;;; Filters

(defun hive-list--filter-by (key value)
  "Show only what has VALUE as KEY; an empty VALUE takes that filter away."
  (let ((filter (copy-sequence hive-list--filter)))
    (cl-remf filter key)
    (hive-list--go hive-list--view
                   (if (string-empty-p value) filter
                     (append filter (list key (hive-text-sendable value)))))))

(defun hive-list--known (key)
  "Return the values of KEY among what is shown and what waits."
  (let ((seen (make-hash-table :test #'equal)) values)
    (dolist (prompts (list hive-list--shown (hive-prompts)))
      (dolist (prompt prompts)
        (let ((value (plist-get prompt key)))
          (unless (gethash value seen)
            (puthash value t seen)
            (push value values)))))
    (nreverse values)))

(defun hive-list-filter-agent (agent)
  "Show only the questions of AGENT, or with an empty one those of all.
The first letters of one name are enough."
  (interactive (list (completing-read (hive-words 'which-agent) (hive-list--known :agent)))
               hive-list-mode)
  (hive-list--filter-by :agent (hive-handles-expand agent (hive-list--known :agent))))

(defun hive-list-filter-project (project)
  "Show only the questions from PROJECT, or with an empty one from all."
  (interactive (list (completing-read (hive-words 'which-project) (hive-list--known :project)))
               hive-list-mode)
  (hive-list--filter-by :project project))

(defun hive-list-filter-kind (kind)
  "Show only questions of KIND, or with an empty one all."
  (interactive (list (completing-read (hive-words 'which-kind) '("question" "permission") nil t)) hive-list-mode)
  (hive-list--filter-by :kind kind))

(defun hive-list-filter-text (text)
  "Show only questions that contain TEXT, or with an empty one all."
  (interactive (list (read-string (hive-words 'which-text))) hive-list-mode)
  (hive-list--filter-by :query text))

(defun hive-list-filter-for (name)
  "Show only the questions for NAME, a human or a team, or with an empty one all."
  (interactive (list (completing-read (hive-words 'which-recipient)
                                      (append (delq nil (hive-list--known :to))
                                              (list (hive-human-name)))))
               hive-list-mode)
  (hive-list--filter-by :to name))

(defun hive-list-filter-none ()
  "Show the questions of all agents and projects again."
  (interactive nil hive-list-mode)
  (hive-list--go hive-list--view nil))

;;;; Pages

(defun hive-list--turn (forward)
  "Turn the page, to the next if FORWARD."
  (unless (hive-list-page-turn forward)
    (hive-fail (if forward 'last-page 'first-page)))
  (goto-char (point-min))
  (if (eq hive-list--view 'waiting) (hive-list--print) (hive-list--renew))
  (goto-char (point-min)))

(defun hive-list-next-page ()
  "Show the rows that follow."
  (interactive nil hive-list-mode)
  (hive-list--turn t))

(defun hive-list-previous-page ()
  "Show the rows before these."
  (interactive nil hive-list-mode)
  (hive-list--turn nil))

;;;; Answering several questions with one decision

;; Questions are marked in the list and then answered together.  Offered are
;; the options that all of them have; words of your own where all allow them.
;; Each gets an answer of its own, which is stored like any other.

(defun hive-list--labels (prompt)
  "Return the labels of the options of PROMPT."
  (mapcar (lambda (option) (plist-get option :label)) (plist-get prompt :options)))

(defun hive-list-mark-common (questions)
  "Return one question that stands for all QUESTIONS.
Signal a `user-error' when no answer could fit them all."
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
  "Return what is about to be done with QUESTIONS, and what they permit."
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
One that may permit something is confirmed."
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

;;;; All questions, and what became of them

(defconst hive-list-name "*hive*" "The name of the list's buffer.")

(defconst hive-list--pause 0.5
  "Seconds between two looks at what must be searched or fetched to be shown.")

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

(defvar-local hive-list--timer nil "The timer that keeps the ages true.")
(defvar-local hive-list--soon nil "The timer of the next look, or nil.")

(define-derived-mode hive-list-mode tabulated-list-mode "Hive"
  "Major mode of the list of questions.
\\<hive-list-mode-map>1 to 5 show what waits, was answered, was answered late, expired
and was cancelled.  \\[hive-list-show] shows all of a question, \\[hive-list-answer] answers it,
\\[hive-list-cancel] cancels it, \\[hive-list-snooze] puts it away, \\[hive-list-visit-terminal] goes to the terminal of
its agent, \\[hive-list-interrupt] interrupts that.  \\[hive-list-mark] marks, \\[hive-list-unmark] and \\[hive-list-unmark-all] unmark; \\[hive-list-answer] then answers
all that are marked with one decision.  \\[hive-list-filter-agent], \\[hive-list-filter-project], \\[hive-list-filter-kind],
\\[hive-list-filter-for] and \\[hive-list-filter-text] filter, \\[hive-list-filter-none] shows all again; \\[hive-list-next-page] and \\[hive-list-previous-page]
turn pages.  The list follows what happens by itself.
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
  "What tells that the list may have changed.")

(defun hive-list--changed ()
  "Show what changed, or note that it did while out of sight."
  (let ((buffer (get-buffer hive-list-name)))
    (if (not buffer)
        (dolist (hook hive-list--hooks) (remove-hook hook #'hive-list--changed))
      (with-current-buffer buffer
        (cond ((not (get-buffer-window buffer t)) (setq hive-list--stale t))
              ;; What takes a search or a fetch is done for many changes at once.
              ((or hive-list--filter (not (eq hive-list--view 'waiting)))
               (unless hive-list--soon
                 (setq hive-list--soon
                       (run-at-time hive-list--pause nil #'hive-list--look buffer))))
              (t (hive-list--update)))))))

(defun hive-list--look (buffer)
  "Bring BUFFER up to date, for many events at once."
  (when (buffer-live-p buffer)
    (with-current-buffer buffer
      (setq hive-list--soon nil)
      (hive-work-guarded #'hive-list--renew))))

(defun hive-list--resized (window)
  "Show the columns for which WINDOW has room, if the list is in it."
  (when (window-live-p window)
    (with-current-buffer (window-buffer window)
      (when (derived-mode-p 'hive-list-mode)
        (hive-work-guarded #'hive-list--fit)))))

(defun hive-list--appeared (window)
  "Bring the list up to date when WINDOW comes to show it."
  (hive-list--resized window)
  (when (window-live-p window)
    (with-current-buffer (window-buffer window)
      (when (and (derived-mode-p 'hive-list-mode) hive-list--stale)
        (hive-list--print)))))

(defun hive-list--tick (buffer)
  "Keep the ages in BUFFER true while somebody sees them."
  (when (and (buffer-live-p buffer) (get-buffer-window buffer t))
    (hive-work-guarded (lambda () (with-current-buffer buffer (hive-list--print))))))

(defun hive-list--end ()
  "Stop what follows the model: the buffer is being killed."
  (when hive-list--timer (cancel-timer hive-list--timer))
  (when hive-list--soon (cancel-timer hive-list--soon)))

;;;; Commands

;;;###autoload
(defun hive-list ()
  "List the questions that wait for you, and what became of others.
\\<hive-list-mode-map>\\[hive-list-show] shows one, \\[hive-list-answer] answers it; \\[describe-mode] tells all keys."
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
  "Show all of the question at point."
  (interactive nil hive-list-mode)
  (hive-prompt-show (hive-list--prompt)))

(defun hive-list-answer ()
  "Answer the questions that are marked with one decision, or the one at point."
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
  "Put the question at point away, with a prefix argument for MINUTES.
One that is away already comes back, if there is no prefix argument."
  (interactive "P" hive-list-mode)
  (hive-snooze-prompt (hive-list--prompt) (and minutes (prefix-numeric-value minutes))))

(defun hive-list-visit-terminal ()
  "Go to the terminal of the agent that asks, if this Emacs has it."
  (interactive nil hive-list-mode)
  (let ((prompt (hive-list--prompt)))
    (hive-terminal-visit (plist-get prompt :session_id) (plist-get prompt :agent))))

(defun hive-list-interrupt ()
  "Ask the agent of the question at point to stop what it does."
  (interactive nil hive-list-mode)
  (let ((prompt (hive-list--prompt)))
    (when (y-or-n-p (hive-words 'interrupt? (hive-text-line (plist-get prompt :agent) 40)))
      (hive-interrupt-session (plist-get prompt :session_id) (plist-get prompt :agent)))))

(defun hive-list-refresh ()
  "Print the list anew and ask the sidecar for what there is."
  (interactive nil hive-list-mode)
  (hive-list--print)
  (when (hive-sidecar-connected-p)
    (if (eq hive-list--view 'waiting)
        (hive-feed-refresh)
      (hive-list--renew))))

;;;; Marks

(defun hive-list--set-mark (marked)
  "Let the question at point be MARKED or not, and go to the next."
  (let ((id (plist-get (hive-list--prompt) :ask_id)))
    (if marked (puthash id t hive-list--marks) (remhash id hive-list--marks))
    (tabulated-list-put-tag (if marked (propertize ">" 'face 'hive-list-marked) " ") t)
    (hive-list--count)))

(defun hive-list-mark ()
  "Mark the question at point, to be answered together with others."
  (interactive nil hive-list-mode)
  (hive-list--set-mark t))

(defun hive-list-unmark ()
  "Take the mark from the question at point."
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
