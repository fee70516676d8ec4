;;; hive-list-view.el --- What the status buffer shows  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; The contents of the status buffer: views, filters, pages and sections,
;; the row of each question, and printing that keeps point and the first line of
;; every window.  The rows of sessions are in hive-sessions, the commands in
;; hive-list.

;;; Code:

(require 'cl-lib)
(require 'hive-display)
(require 'hive-human)
(require 'hive-messages)
(require 'hive-model)
(require 'hive-rpc)
(require 'hive-sessions)
(require 'hive-text)
(require 'subr-x)
(require 'tabulated-list)

;;;; Views, filters and pages

;; The view `status' shows what needs the human and all agents, `agents' only
;; those.  The other views are the questions with a status.  A filter narrows a
;; view to an agent, a project, a kind, a recipient or a text.  Pending questions
;; come from the model; settled ones are fetched from the store, page by page.

(defconst hive-list-rows 500
  "How many rows a page has; printing 10,000 takes over a second.")

(defconst hive-list-views
  '((status) (waiting . "pending") (answered . "responded") (late . "late")
    (expired . "expired") (cancelled . "cancelled") (agents))
  "The views in the order of their keys, each with its status in requests.")

(defvar-local hive-list--view 'waiting "The current view.")
(defvar-local hive-list--filter nil
  "The filter: a plist of :agent, :project, :kind, :to and :query.")
(defvar-local hive-list--offset 0 "How many rows are on the pages before this one.")
(defvar-local hive-list--page nil "The settled questions on this page.")
(defvar-local hive-list--total nil "How many questions the view and the filter select.")
(defvar-local hive-list--problem nil "Why the last fetch of this view failed, in words, or nil.")
(defvar-local hive-list--cursors nil
  "The cursors of this page and the pages before it, newest first.")
(defvar-local hive-list--next nil "The cursor of the next page.")

(defun hive-list-live-p ()
  "Return non-nil if the view is of the model: nothing of it is fetched."
  (memq hive-list--view '(status waiting agents)))

(defun hive-list-agents-p ()
  "Return non-nil if agents are in the view."
  (memq hive-list--view '(status agents)))

(defun hive-list-source ()
  "Return the questions from this page on, in order.
The list may be shared: do not modify it."
  (if (not (hive-list-live-p)) hive-list--page
    (let ((all (pcase hive-list--view
                 ('status (hive-prompts-mine))
                 ('waiting (hive-prompts)))))
      (when hive-list--filter (setq all (cl-remove-if-not #'hive-list--match-p all)))
      (setq hive-list--total (length all))
      (nthcdr hive-list--offset all))))

(defun hive-list--rows ()
  "Return the rows that the view and the filter select.
They are about agents and shared buffers."
  (when (hive-list-agents-p)
    (let ((rows (hive-sessions-rows (eq hive-list--view 'status))))
      (if hive-list--filter (cl-remove-if-not #'hive-list--row-match-p rows) rows))))

(defun hive-list--row-match-p (row)
  "Return non-nil if ROW passes the filter.
A row has no kind and no recipient; only questions have these."
  (let ((thing (hive-row-thing row)))
    (cl-loop for (key value) on hive-list--filter by #'cddr
             always (pcase key
                      (:agent (member value (list (plist-get thing :handle)
                                                  (plist-get thing :from_handle))))
                      (:project (equal value (plist-get thing :project)))
                      (:query (string-search (downcase value)
                                             (downcase (concat (hive-row-name row) " "
                                                               (hive-row-text row)))))))))

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

(defconst hive-list--view-names
  '((answered . menu-view-answered) (late . menu-view-late) (expired . menu-view-expired)
    (cancelled . menu-view-cancelled) (agents . menu-sessions))
  "The views that have a name, and that name.")

(defun hive-list-view-name (shown)
  "Return the text of the mode line when a page has SHOWN questions, or agents."
  (let ((total (if (eq hive-list--view 'agents) shown (or hive-list--total shown)))
        (name (alist-get hive-list--view hive-list--view-names)))
    (concat (if name (concat " " (hive-words name)) "")
            (cond ((> hive-list--offset 0)
                   (hive-words " %d-%d of %d" (1+ hive-list--offset)
                               (+ hive-list--offset shown) total))
                  ((> total shown) (hive-words " %d of %d" shown total))
                  ;; Its headings say how many there are.
                  ((eq hive-list--view 'status) "")
                  (t (format " %d" total))))))

(defun hive-list--filter-text ()
  "Return the filter in words, or nil if there is none."
  (when hive-list--filter
    (cl-loop for (key value) on hive-list--filter by #'cddr
             for shown = (hive-text-line value 30)
             collect (pcase key
                       (:agent (hive-words 'filter-agent (hive-model-title-of value (append hive-list--page (hive-prompts)) 30)))
                       (:project (hive-words 'filter-project shown))
                       (:kind (hive-words "kind %s" shown))
                       (:to (hive-words "for %s" shown))
                       (_ (hive-words 'filter-text shown)))
             into parts
             finally return (string-join parts ", "))))

;;;; Fetching settled questions

(defun hive-list-fetch (then)
  "Fetch this page of settled questions.
Call THEN in the list's buffer when it has arrived, or if that failed."
  (hive-rpc-fetch
   'prompt/list
   `( :status ,(alist-get hive-list--view hive-list-views) :limit ,hive-list-rows
      ,@hive-list--filter
      ,@(when (car hive-list--cursors) (list :cursor (car hive-list--cursors))))
   :then (lambda (result)
           (setq hive-list--page (append (plist-get result :prompts) nil)
                 hive-list--next (plist-get result :next_cursor)
                 hive-list--total (plist-get result :total)
                 hive-list--problem nil)
           (funcall then))
   :failure "Hive could not fetch the list: %s"
   :problem (lambda (sentence _err)
              (setq hive-list--problem sentence)
              (funcall then))))

;;;; Changing view and page

(defun hive-list-view-set (view filter)
  "Set the view to VIEW with FILTER, at its first page."
  (setq hive-list--view view
        hive-list--filter filter
        hive-list--offset 0
        hive-list--page nil
        hive-list--total nil
        hive-list--problem nil
        hive-list--cursors nil
        hive-list--next nil)
  (hive-rpc-forget-fetch 'prompt/list (current-buffer)))

(defun hive-list-page-turn (forward)
  "Go to the next page if FORWARD, else to the previous one.
Return nil if there is none."
  (cond ((and forward (hive-list-live-p))
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

(defface hive-list-critical '((t :inherit hive-critical))
  "Questions that are critical." :group 'hive-faces)

(defface hive-list-blocked '((t :inherit bold))
  "How long a question has blocked its agent." :group 'hive-faces)

(defface hive-list-low '((t :inherit hive-shadow))
  "Questions that are not urgent, snoozed, or for others." :group 'hive-faces)

(defface hive-list-marked '((t :inherit (bold hive-warning)))
  "The mark of a question." :group 'hive-faces)

(defface hive-list-section '((t :inherit (bold font-lock-function-name-face)))
  "The heading of a section." :group 'hive-faces)

(defface hive-list-filter '((t :inherit hive-warning))
  "The filter in the header line." :group 'hive-faces)

;;;; Sections

;; The questions of a page are shown in sections, in the order of their first
;; questions.  The sections of the status are always the same ones, in the same
;; order; an empty one is left out.  The lines of a folded section are not printed.

(defcustom hive-list-group 'project
  "The sections of the list.
\\<hive-list-mode-map>\\[hive-list-regroup] changes it for the list that is open."
  :type '(choice (const :tag "Projects" project) (const :tag "Agents" agent)
                 (const :tag "No sections" nil))
  :group 'hive)

(defconst hive-list--status-sections
  '((needs . "Needs you") (working . "Working") (idle . "Idle and done")
    (room . "The room") (ended . "Ended"))
  "The sections of the status, in their order.
Each has its heading.")

(cl-defstruct (hive-list-section (:constructor hive-list-section-make) (:copier nil))
  "The heading of a section.
KEY identifies the section, NAME is what is shown.  COUNT, PERMISSIONS
and MARKED are numbers of questions, LOOPS of stopped loops, ROWS and
UNREAD of other lines; MORE means that there are more of those than are
known."
  key name count permissions marked loops rows unread more folded)

(defvar-local hive-list--shown nil "The prompts of this page, in order.")
(defvar-local hive-list--lines nil "The items of the lines, in order: headings and prompts.")
(defvar-local hive-list--marks nil "Hash table of the ids that are marked.")
(defvar-local hive-list--folded '(ended) "The keys of the sections that are folded.")

(defun hive-list--sections-p ()
  "Return non-nil if the list has sections.
A list that is sorted by a column has none."
  (and (or (hive-list-agents-p) hive-list-group) (null tabulated-list-sort-key)))

(defun hive-list--key (item)
  "Return the key of the section of ITEM, a prompt or a row.
Two projects of the same name are two sections."
  (cond ((hive-row-p item) (hive-row-section item))
        ((hive-list-agents-p) (if (hive-prompt-ended-p item) 'ended 'needs))
        ((eq hive-list-group 'agent)
         (or (plist-get item :session_id) (plist-get item :agent)))
        (t (or (plist-get item :project_dir) (plist-get item :project)))))

(defun hive-list--heading (key items old)
  "Return the heading of the section KEY, which has ITEMS, questions and rows.
If it is as before, it is one of OLD, the former headings by key."
  (let ((count 0) (permissions 0) (marked 0) (loops 0) (rows 0) (unread 0)
        (folded (and (member key hive-list--folded) t))
        (more (and (eq key 'ended) hive-sessions-more))
        (before (gethash key old)))
    (dolist (item items)
      (cond ((and (hive-row-p item) (eq 'loop (car (hive-row-id item)))) (cl-incf loops))
            ((hive-row-p item)
             (cl-incf rows)
             (when (hive-row-unread item) (cl-incf unread)))
            (t (cl-incf count)
               (when (hive-permission-p item) (cl-incf permissions))
               (when (hive-list--marked-p item) (cl-incf marked)))))
    (let ((now (hive-list-section-make
                :key key :name (if before (hive-list-section-name before)
                                 (hive-list--section-name key items))
                :count count :permissions permissions :marked marked :loops loops :rows rows
                :unread unread :more more :folded folded)))
      (if (equal now before) before now))))

(defun hive-list--section-name (key items)
  "Return what the heading of the section KEY, which has ITEMS, is called."
  (cond ((hive-list-agents-p) (hive-words (alist-get key hive-list--status-sections)))
        ((eq hive-list-group 'agent) (hive-text-agent (car items) 60))
        (t (hive-text-line (plist-get (car items) :project) 60))))

(defun hive-list--section-text (heading)
  "Return what the section of HEADING has, in words."
  (let* ((count (hive-list-section-count heading))
         (permissions (hive-list-section-permissions heading))
         (loops (hive-list-section-loops heading))
         (rows (hive-list-section-rows heading))
         (unread (hive-list-section-unread heading))
         (key (hive-list-section-key heading))
         (parts (list
                 (when (> count 0)
                   (concat (hive-count count (if (eq 'ended key) "open question" "question"))
                           (if (zerop permissions) ""
                             (format " (%s)" (hive-count permissions "permission")))
                           (if (eq 'ended key) (hive-words "; C cancels them") "")))
                 (when (> loops 0) (hive-count loops "stopped loop"))
                 (when (> rows 0)
                   (pcase key
                     ('needs (hive-count rows "mention"))
                     ('room (number-to-string rows))
                     (_ (concat (hive-count rows "agent")
                                (if (hive-list-section-more heading) "+" "")
                                (if (> unread 0) (hive-words " (%d unread)" unread) ""))))))))
    (string-join (delq nil (if (eq 'ended key) (nreverse parts) parts)) ", ")))

;; With thousands of questions a garbage collection takes 50 ms, so an arrival
;; must not leave much garbage.  The conses of one list of lines are used again
;; for the next one.

(defvar-local hive-list--spare nil "A list whose conses can be used again.")

(defun hive-list--cell (item)
  "Return a list of ITEM alone, made of a spare cons if there is one."
  (let ((cell hive-list--spare))
    (if (null cell)
        (list item)
      (setq hive-list--spare (cdr cell))
      (setcar cell item)
      (setcdr cell nil)
      cell)))

(defun hive-list--give-back (items)
  "Let the conses of ITEMS, which are in no other list, be used again."
  (setq hive-list--spare (nconc items hive-list--spare)))

(defun hive-list--items ()
  "Return a new list of what the lines of this page show.
These are headings, questions and rows."
  ;; A table of the usual size would be more garbage than the rest.
  (let ((sections (make-hash-table :test #'equal :size 8))
        (headings (make-hash-table :test #'equal :size 8))
        (agents (hive-list-agents-p)) (keyed (hive-list--sections-p))
        (last-key (make-symbol "none")) last-section order)
    (cl-flet ((add (item)
                (let* ((key (and keyed (hive-list--key item)))
                       ;; Most items are in the section of the one before.
                       (section (if (eq key last-key) last-section (gethash key sections)))
                       (cell (hive-list--cell item)))
                  (if section
                      (setcdr section (setcdr (cdr section) cell))
                    ;; Its first cons, and its last.
                    (setq section (cons cell cell))
                    (puthash key section sections)
                    (unless (and agents key) (push (cons key section) order)))
                  (setq last-key key last-section section))))
      (mapc #'add hive-list--shown)
      (mapc #'add (hive-list--rows)))
    (when (and agents (null order))
      (pcase-dolist (`(,key . ,_) hive-list--status-sections)
        (when-let* ((section (gethash key sections)))
          (push (cons key section) order))))
    (dolist (item hive-list--lines)
      (when (hive-list-section-p item) (puthash (hive-list-section-key item) item headings)))
    (let (items)
      (pcase-dolist (`(,key ,first . ,last) order items)
        (if (not (hive-list--sections-p))
            (setq items first)
          (let ((heading (hive-list--heading key first headings)))
            (if (not (hive-list-section-folded heading))
                (progn (setcdr last items)
                       (setq items first))
              (hive-list--give-back first))
            (let ((cell (hive-list--cell heading)))
              (setcdr cell items)
              (setq items cell))))))))

(defun hive-list--print-heading (heading)
  "Insert the line of HEADING.
Its id is a cons, to tell it from the id of a question."
  (let ((start (point)) (count (hive-list-section-count heading)))
    (insert (if (and (> count 0) (= count (hive-list-section-marked heading)))
                (propertize ">" 'face 'hive-list-marked)
              " ")
            (propertize (concat (hive-mark (if (hive-list-section-folded heading) "▸ " "▾ "))
                                (hive-list-section-name heading))
                        'face 'hive-list-section)
            (propertize (concat "  " (hive-list--section-text heading)) 'face 'hive-list-low)
            "\n")
    (put-text-property start (point) 'tabulated-list-id
                       (list 'section (hive-list-section-key heading)))))

(defun hive-list--section-at (&optional position)
  "Return the key of the section whose heading is at POSITION, in a list, or nil."
  (let ((id (tabulated-list-get-id position)))
    (and (eq 'section (car-safe id)) (cdr id))))

(defun hive-list--members (key)
  "Return the questions of this page in the section KEY."
  (cl-remove-if-not (lambda (prompt) (equal key (hive-list--key prompt))) hive-list--shown))

;;;; Rows

(defvar-local hive-list--stale nil "Non-nil when the model has changed since the last printing.")

(defconst hive-list--narrow 100
  "In a window narrower than this, source and project have no columns.")

(defconst hive-list--very-narrow 80
  "In a window narrower than this, the kind has no column either.")

(defvar-local hive-list--few nil
  "Which columns are left out: `some', `most', or nil for none.")

(defun hive-list--columns (all)
  "Return the items of ALL, one per column, that are shown, as a vector.
What the heading of a section says has no column."
  (pcase-let ((`(,sign ,agent ,source ,project ,kind ,age ,end ,text) all)
              (group (and (hive-list--sections-p) hive-list-group)))
    (vconcat (list sign)
             (unless (eq group 'agent) (list agent))
             (unless hive-list--few
               (append (unless (eq group 'agent) (list source))
                       (unless (eq group 'project) (list project))))
             (unless (eq hive-list--few 'most) (list kind))
             (list age)
             ;; Few questions expire.
             (unless (and hive-list--few (eq hive-list--view 'waiting)) (list end))
             (list text))))

(cl-defun hive-list--agent-columns (&key sign agent handle client project branch kind age text)
  "Return what is shown of the arguments, one per column of a view with agents.
These are SIGN, AGENT, HANDLE, CLIENT, PROJECT, BRANCH, KIND, AGE and TEXT."
  (let ((wide (not hive-list--few)) (all (eq hive-list--view 'agents)))
    (vconcat (list sign agent)
             (and wide all (list handle client))
             (and wide (list project))
             (and wide all (list branch))
             (list kind age text))))

(defun hive-list--format ()
  "Return the columns of the current view."
  (if (hive-list-agents-p)
      (hive-list--agent-columns
       :sign '("" 1 nil)
       :agent `(,(hive-words 'column-agent) 22 t)
       :handle `(,(hive-words "Handle") 14 t)
       :client `(,(hive-words "Client") 12 t)
       :project `(,(hive-words 'column-project) 12 t)
       :branch `(,(hive-words "Branch") 12 t)
       :kind `(,(hive-words 'column-kind) 4 t)
       :age `(,(hive-words "Since") 5 nil :right-align t)
       :text `(,(hive-words "Activity") 0 t))
    (hive-list--columns
     `(("" 1 nil)
       (,(hive-words 'column-agent) 16 t)
       (,(hive-words "Source") 6 t)
       (,(hive-words 'column-project) 16 t)
       (,(hive-words 'column-kind) 4 t)
       (,(hive-words "Age") 5 nil :right-align t)
       ,@(if (eq hive-list--view 'waiting)
             `((,(hive-words "Expires") 7 nil :right-align t)
               (,(hive-words "Question") 0 t))
           `((,(hive-words "Ended") 7 nil :right-align t)
             (,(hive-words "Outcome and question") 0 t)))))))

(defun hive-list--fit (&rest _)
  "Show the columns that fit into the narrowest window of the list."
  (let* ((windows (get-buffer-window-list nil nil t))
         (width (and windows (apply #'min (mapcar #'window-width windows))))
         (few (cond ((null width) nil)
                    ((< width hive-list--very-narrow) 'most)
                    ((< width hive-list--narrow) 'some))))
    (when (and windows (not (eq few hive-list--few)))
      (setq hive-list--few few)
      (hive-list--print))))

(defun hive-list--set-format ()
  "Set the columns, if they changed, and the header line."
  (let ((format (hive-list--format)))
    (unless (equal format tabulated-list-format)
      (setq tabulated-list-format format)
      (when (and tabulated-list-sort-key
                 (not (cl-find (car tabulated-list-sort-key) format :key #'car :test #'equal)))
        (setq tabulated-list-sort-key nil)
        (hive-list--set-format))))
  (tabulated-list-init-header)
  (when-let* ((filter (hive-list--filter-text)))
    (setq header-line-format
          (list header-line-format
                (propertize (hive-text-literal (hive-words "  only %s" filter))
                            'face 'hive-list-filter)))))

(defun hive-list--face (prompt)
  "Return the face of the row of PROMPT."
  (cond ((not (hive-prompt-pending-p prompt)) 'default)
        ((or (hive-prompt-snoozed-p prompt) (hive-prompt-ended-p prompt)
             (not (hive-human-mine-p prompt)))
         'hive-list-low)
        (t (pcase (hive-prompt-rank prompt)
             (0 'hive-list-critical) (2 'hive-list-low) (_ 'default)))))

(defun hive-list--sign (prompt)
  "Return the first column of PROMPT, one character."
  (if (hive-prompt-snoozed-p prompt) "z"
    (pcase (hive-prompt-rank prompt) (0 "!") (2 (hive-mark "·")) (_ " "))))

(defun hive-list--outcome (prompt)
  "Return the outcome of PROMPT in a few words, or nil if there is none."
  (let* ((late (plist-get prompt :late_response))
         (answer (or late (and (plist-get prompt :decision) prompt)))
         (by (lambda (thing) (hive-text-line (or (plist-get thing :by) "") 30))))
    ;; An expired or cancelled question has no decision, but may have a late answer.
    (cond (answer (hive-words (if late "late: %s (%s)" "%s (%s)")
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
  (let ((question (hive-text-question prompt 200))
        (outcome (hive-list--outcome prompt)))
    (if outcome (hive-words "→ %s  %s" outcome question)
      (concat (if (hive-prompt-blocked-p prompt)
                  (concat (propertize (hive-prompt-waits prompt) 'face 'hive-list-blocked) "  ")
                "")
              (if (and hive-list--few (not (hive-list-agents-p)) (plist-get prompt :expires_at))
                  (hive-words "[expires in %s] " (hive-text-until (plist-get prompt :expires_at)))
                "")
              (hive-human-label prompt) question))))

(defun hive-list--question-cells (prompt)
  "Return the columns of PROMPT, a question."
  (let ((face (hive-list--face prompt)))
    (cl-flet ((cell (text) (propertize text 'face face)))
      (let ((sign (cell (hive-list--sign prompt)))
            (project (cell (hive-text-line (plist-get prompt :project) 30)))
            (kind (cell (if (hive-permission-p prompt) (hive-words "perm") "")))
            (age (cell (hive-text-age (plist-get prompt :created_at))))
            (question (cell (hive-list--question prompt))))
        (if (hive-list-agents-p)
            (hive-list--agent-columns
             :sign sign :agent (cell (hive-text-agent prompt 40)) :handle "" :client ""
             :project project :branch "" :kind kind :age age :text question)
          (hive-list--columns
           (list sign
                 (cell (if hive-list--few (hive-text-agent prompt 30)
                         ;; There is a column for the source.
                         (hive-text-title prompt 30)))
                 (cell (hive-text-line (plist-get prompt :source) 6))
                 project kind age
                 (cell (if (hive-prompt-pending-p prompt)
                           (hive-text-until (plist-get prompt :expires_at))
                         (hive-text-age (plist-get prompt :settled_at))))
                 question)))))))

(defun hive-list--row-cells (row)
  "Return the columns of ROW, of an agent or a shared buffer."
  (let ((source (hive-row-field row :source 4)))
    (hive-list--agent-columns
     :sign (hive-row-sign row) :agent (hive-row-name row)
     :handle (hive-row-field row :handle 40) :client (hive-row-field row :client 20)
     :project (hive-row-field row :project 30) :branch (hive-row-field row :branch 30)
     :kind (if (equal source "main") "" source)
     :age (hive-row-age row) :text (hive-row-text row))))

(defun hive-list--entry (item)
  "Return ITEM as `tabulated-list-entries' wants it.
It is a heading, a question or a row."
  (cond ((hive-list-section-p item) (list item nil))
        ((hive-row-p item) (list (hive-row-id item) (hive-list--row-cells item)))
        (t (list (plist-get item :ask_id) (hive-list--question-cells item)))))

(defun hive-list--entries ()
  "Return the entries of this page, once the columns fit them."
  (hive-list--set-format)
  (hive-list--update-page)
  (setq hive-list--lines (hive-list--items))
  (mapcar #'hive-list--entry hive-list--lines))

(defun hive-list--marked-p (prompt)
  "Return non-nil if PROMPT is marked."
  (gethash (plist-get prompt :ask_id) hive-list--marks))

(defun hive-list--print-row (id columns)
  "Print the row of ID with COLUMNS, and its mark; or ID, a heading."
  (if (hive-list-section-p id) (hive-list--print-heading id)
    (tabulated-list-print-entry id columns)
    (when (gethash id hive-list--marks)
      (forward-line -1)
      (tabulated-list-put-tag (propertize ">" 'face 'hive-list-marked))
      (forward-line 1))))

(defun hive-list--update-page ()
  "Make `hive-list--shown' what is on this page now.
Return non-nil if that changed."
  (let* ((new (hive-list-source)) (room hive-list-rows)
         (head (cons nil hive-list--shown)) (last head) (changed nil))
    (while (and new (> room 0))
      (cond ((null (cdr last))
             (setcdr last (list (car new)))
             (setq changed t))
            ((not (eq (cadr last) (car new)))
             (setcar (cdr last) (car new))
             (setq changed t)))
      (setq last (cdr last) new (cdr new) room (1- room)))
    (when (cdr last)
      (setcdr last nil)
      (setq changed t))
    (setq hive-list--shown (cdr head))
    changed))

;;;; Printing

(defun hive-list--print ()
  "Print the list; each window stays on its question."
  (setq hive-list--stale nil)
  (hive-list--keep-places
   (lambda ()
     ;; Collecting garbage five times over costs more than the printing.
     (let ((gc-cons-threshold (max gc-cons-threshold (* 32 1024 1024))))
       (tabulated-list-print t))))
  (hive-list--count))

(defun hive-list--update (&optional other)
  "Update only the lines that changed.
Printing 500 rows takes as long as a dozen keys; one row takes none.
With OTHER, marks or folds changed, and perhaps no question."
  (cond (tabulated-list-sort-key (hive-list--print)) ; the human has sorted the list
        ((or (hive-list--update-page) (hive-list-agents-p) other)
         (let ((new (hive-list--items)))
           (hive-list--keep-places (lambda () (hive-list--update-lines new)))
           (hive-list--give-back new)
           (hive-list--count)))
        (t (hive-list--count)))
  (setq hive-list--stale nil))

(defun hive-list--refresh ()
  "Show the list as it is now, with current ages.
A line that looks as before is not printed again: printing takes twice as
long as finding out, and leaves much more garbage."
  (let ((format tabulated-list-format))
    (hive-list--set-format)
    (if (or tabulated-list-sort-key (not (eq format tabulated-list-format)))
        (hive-list--print)
      (hive-list--update t)
      (hive-list--keep-places #'hive-list--reprint-lines)
      (restore-buffer-modified-p nil))))

(defun hive-list--reprint-lines ()
  "Print again the lines that look different now."
  (let ((inhibit-read-only t)
        ;; As in `hive-list--print': it may be many.
        (gc-cons-threshold (max gc-cons-threshold (* 32 1024 1024))))
    (save-excursion
      (goto-char (point-min))
      (dolist (item hive-list--lines)
        (pcase-let ((`(,id ,columns) (hive-list--entry item)))
          (if (or (hive-list-section-p item) (hive-list--printed-p id columns))
              (forward-line 1)
            ;; In this order, point at the end of the buffer stays there.
            (hive-list--print-row id columns)
            (delete-region (point) (line-beginning-position 2))))))))

(defun hive-list--printed-p (id columns)
  "Return non-nil if the line at point is that of ID with COLUMNS.
Its text and its mark are the same, too."
  (and (eq (eq ?> (char-after)) (and (gethash id hive-list--marks) t))
       (equal-including-properties columns (tabulated-list-get-entry))))

(defun hive-list--update-lines (new)
  "Make the lines show NEW, headings, questions and rows."
  (let* ((inhibit-read-only t)
         ;; Change the list in place, along with its lines.
         (head (cons nil hive-list--lines)) (cell head)
         ;; Going over each line that stays would cost more than the rest.
         (unchanged 0))
    (save-excursion
      (goto-char (point-min))
      (while (or (cdr cell) new)
        (let ((old (cadr cell)) (want (car new)))
          (if (eq old want)
              (setq unchanged (1+ unchanged)
                    cell (cdr cell) new (cdr new))
            (forward-line unchanged)
            (setq unchanged 0)
            (if (and old (or (null want) (eq (caddr cell) want) (not (memq old new))))
                (progn
                  (delete-region (point) (line-beginning-position 2))
                  (setcdr cell (cddr cell)))
              (apply #'hive-list--print-row (hive-list--entry want))
              (setcdr cell (cons want (cdr cell)))
              (setq cell (cdr cell) new (cdr new)))))))
    (setq hive-list--lines (cdr head))))

(defun hive-list--keep-places (print)
  "Call PRINT, which prints the list or some of its lines.
Each window stays on its line, or if that has disappeared, goes to the
one that was below it.  If all lines fit into a window, it shows the
first one, because a menu that was open may have left it elsewhere."
  (hive-text-keep-places print)
  (dolist (window (get-buffer-window-list nil nil t))
    (when (<= (length hive-list--lines) (window-body-height window))
      (set-window-start window (point-min) t))))

(defun hive-list--nothing ()
  "Return a sentence on why the list is empty."
  (cond ((hive-sidecar-absence))
        (hive-list--problem)
        ((if (hive-list-live-p) (not (hive-model-complete-p)) (null hive-list--total))
         (hive-words 'loading))
        ((and hive-list--filter (or (hive-prompts) (not (eq hive-list--view 'waiting))))
         (if (eq hive-list--view 'waiting)
             (hive-words "The filter hides %s; / / removes it."
                         (hive-count (length (hive-prompts)) "pending question"))
           (hive-words (pcase hive-list--view
                         ('status "Nothing matches the filter; / / removes it.")
                         ('agents "No agents match the filter; / / removes it.")
                         (_ "No questions match the filter; / / removes it.")))))
        (t (hive-words (pcase hive-list--view
                         ('answered "No answered questions.") ('late "No late answers.")
                         ('expired "No expired questions.") ('cancelled "No cancelled questions.")
                         ('status "Nothing needs you, and no agents are online.") ('agents 'no-agents)
                         (_ "No questions are pending."))))))

(defun hive-list--count ()
  "Show the view and the counts in the mode line."
  (hive-text-say-empty (and (null hive-list--lines) (hive-list--nothing)))
  (restore-buffer-modified-p nil)
  (let ((marked (length (hive-list--marked))))
    (setq mode-line-process
          (hive-text-literal
           (concat (hive-list-view-name
                    (if (eq hive-list--view 'agents)
                        (cl-loop for line in hive-list--lines
                                 when (hive-list-section-p line) sum (hive-list-section-rows line))
                      (length hive-list--shown)))
                   (if (> marked 0) (hive-words ", %d marked" marked) ""))))))

(defun hive-list--marked ()
  "Return the marked questions of this view, in order.
Pending ones may be on any page."
  (unless (zerop (hash-table-count hive-list--marks))
    (cl-remove-if-not #'hive-list--marked-p
                      (if (hive-list-live-p) (hive-prompts) hive-list--shown))))

(defun hive-list--position (id &optional guess)
  "Return where the row of ID begins, or nil.
GUESS is where it probably begins."
  (if (and guess (equal id (tabulated-list-get-id guess))) guess
    (save-excursion
      (goto-char (point-min))
      (while (not (or (eobp) (equal id (tabulated-list-get-id))))
        (forward-line 1))
      (and (not (eobp)) (point)))))

(provide 'hive-list-view)
;;; hive-list-view.el ends here
