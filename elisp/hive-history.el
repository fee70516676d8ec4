;;; hive-history.el --- Searching everything asked, answered and posted  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; `hive-history' searches everything in the store by text, agent, project
;; and date, newest first.  Pages are fetched on request and asynchronously.
;; `hive-history-export' writes all results of a search to a file, as Org or
;; Markdown.

;;; Code:

(require 'cl-lib)
(require 'hive-links)
(require 'hive-messages)
(require 'hive-model)
(require 'hive-notify)
(require 'hive-prompt)
(require 'hive-read)
(require 'hive-rpc)
(require 'hive-text)
(require 'subr-x)
(require 'tabulated-list)

;;;; Entries as Org and Markdown

;; Text from agents stays text in the file: it cannot become a heading, a link or
;; a block that runs.

(defconst hive-history--export-page 200 "How many entries are fetched at once.")
(defconst hive-history--export-most 20000 "How many entries are written at most.")

(defun hive-history-export-time (time)
  "Return TIME, as the sidecar sends it, in the local zone."
  (hive-text-local time "%F %H:%M"))

(defun hive-history--unlinked (text)
  "Return TEXT with a space in everything that Org could take for a link.
Org offers the links of an entry wherever they are in it."
  (setq text (replace-regexp-in-string "\\[\\[" "[ [" text t))
  (setq text (replace-regexp-in-string "<\\([[:alnum:]+-]+:\\)" "< \\1" text t))
  (replace-regexp-in-string "\\([[:alnum:]]\\):\\([^ \t\n]\\)" "\\1: \\2" text t))

(defun hive-history--title (line)
  "Return LINE, from an agent, without what has a meaning in a heading.
That is the mode line of a file, and links of Org."
  (hive-history--unlinked (replace-regexp-in-string "-\\*-" "- * -" line t t)))

(defun hive-history--lines (text prefix)
  "Return TEXT, inert, with PREFIX before each line."
  (replace-regexp-in-string "^" prefix (hive-text-inert text) t t))

(defun hive-history--org (entry)
  "Return ENTRY as Org."
  (concat
   (format "* %s %s: %s\n" (hive-history-export-time (plist-get entry :at))
           (hive-history--title (hive-history--author entry))
           (hive-history--title (hive-text-line (plist-get entry :text) 60)))
   ;; A colon before a line makes it literal: neither a heading nor a block.
   (hive-history--lines (hive-history--unlinked (plist-get entry :text)) ": ") "\n"
   (if (plist-get entry :decision)
       (format "\n%s:\n%s\n"
               (hive-history--title (hive-history--answerer entry))
               (hive-history--lines (hive-history--unlinked (plist-get entry :decision)) ": "))
     (if (plist-get entry :status)
         (format "\n/%s/\n" (hive-text-value (plist-get entry :status) 20)) ""))
   "\n"))

(defun hive-history--author (entry)
  "Return who wrote ENTRY; for a human, the name under which they posted it."
  (if (and (equal "message" (plist-get entry :kind)) (plist-get entry :by))
      (hive-text-line (plist-get entry :by) 40)
    (hive-text-agent entry 40)))

(defun hive-history--answerer (entry)
  "Return who answered ENTRY, and whether that was late."
  (let ((who (hive-text-by entry 40)))
    (if (equal "responded" (plist-get entry :status)) who (hive-words "%s, late" who))))

(defun hive-history--markdown (entry)
  "Return ENTRY as Markdown."
  (concat
   (format "## %s `%s`\n\n" (hive-history-export-time (plist-get entry :at))
           (hive-history--title
            (replace-regexp-in-string "`" "'" (hive-history--author entry))))
   ;; Four spaces make a line literal.
   (hive-history--lines (plist-get entry :text) "    ") "\n\n"
   (if (plist-get entry :decision)
       (format "→ `%s`:\n\n%s\n\n"
               (replace-regexp-in-string "`" "'" (hive-history--answerer entry))
               (hive-history--lines (plist-get entry :decision) "    "))
     (if (plist-get entry :status)
         (format "*%s*\n\n" (hive-text-value (plist-get entry :status) 20)) ""))))

(defun hive-history-export-text (entries org)
  "Return ENTRIES as one text, Org if ORG, else Markdown."
  (concat (mapconcat (if org #'hive-history--org #'hive-history--markdown) entries "")
          hive-text-file-end))

;;;; Writing a file

(defun hive-history-export-write (search file)
  "Write the results of SEARCH to FILE, and report when that is done."
  (hive-say "Writing %s…" (abbreviate-file-name file))
  (hive-history--export-fetch search (expand-file-name file) nil nil))

(defun hive-history--export-fetch (search file cursor found)
  "Fetch the page of SEARCH at CURSOR, add it to FOUND, and go on; then write FILE."
  (hive-rpc-request
   'history/search `( :limit ,hive-history--export-page :full t ,@search
                      ,@(when cursor (list :cursor cursor)))
   :timeout 30
   :success (lambda (result)
              (let ((found (append (reverse (append (plist-get result :entries) nil)) found))
                    (next (plist-get result :next_cursor)))
                (if (and next (< (length found) hive-history--export-most))
                    (hive-history--export-fetch search file next found)
                  (hive-history--save (nreverse found) file next))))
   :error (hive-announcing 'export-failed)))

(defun hive-history--save (entries file older)
  "Write ENTRIES to FILE; with OLDER, say that there are more."
  (condition-case oops
      (let ((coding-system-for-write 'utf-8-unix))
        (write-region (hive-history-export-text entries (string-suffix-p ".org" file))
                      nil file nil 'silent)
        (hive-announce (if older "Wrote the newest %s to %s; older ones are not in it: limit the search with / u, and write those to another file"
                         'export-done)
                       (hive-count (length entries) "entry" "entries")
                       (abbreviate-file-name file)))
    (file-error (hive-announce 'export-failed (error-message-string oops)))))

;;;; The buffer

(defconst hive-history--name "*hive history*" "The name of the buffer.")
(defconst hive-history--page 100 "How many entries are fetched at once.")

(defvar hive-history-queries nil "Searches typed before.")

(defvar-local hive-history--search nil
  "The search: a plist of :query, :agent, :project, :since and :until.")
(defvar-local hive-history--entries nil "The entries found so far, newest first.")
(defvar-local hive-history--cursor nil "Where older entries follow, or nil.")
(defvar-local hive-history--nothing (hive-words 'loading) "Why no entry is shown, in words.")

(defconst hive-history-keys
  '((("History"
      ("RET" "open" hive-history-open)
      ("s" "search for something else" hive-history)
      (">" "older entries" hive-history-older)
      ("g" menu-list-refresh hive-history-again)
      ("e" "write all to a file" hive-history-export))
     ("Limits"
      ("/ a" "to an agent" hive-history-by-agent)
      ("/ p" "to a project" hive-history-by-project)
      ("/ s" "since" hive-history-since)
      ("/ u" "until" hive-history-until)
      ("/ /" "none" hive-history-by-nothing))))
  "The keys of the history, see `hive-keys-map'.")

(defvar hive-history-mode-map
  (hive-keys-map 'hive-history-mode hive-history-keys)
  "Keymap of `hive-history-mode'.")

(define-derived-mode hive-history-mode tabulated-list-mode "Hive-History"
  "Major mode of what was found in the history.
\\<hive-history-mode-map>\\[hive-keys] is a menu of its keys.
\\{hive-history-mode-map}"
  :interactive nil
  (hive-text-set-up #'hive-history-again t)
  (setq tabulated-list-padding 1
        tabulated-list-sort-key nil))

;;;; Rows

(defun hive-history--columns (when author project what text)
  "Return WHEN, AUTHOR, PROJECT, WHAT and TEXT, one per column that is shown.
A narrow window has none for the project."
  (apply #'vector when author
         (if (< (or (hive-wrap-room) (frame-width)) 100) (list what text) (list project what text))))

(defun hive-history--row (entry)
  "Return the row of ENTRY."
  (list (plist-get entry :id)
        (hive-history--columns
         (hive-history-export-time (plist-get entry :at))
         (hive-history--author entry)
         (hive-text-line (plist-get entry :project) 30)
         (if (equal (plist-get entry :kind) "message") (hive-words "message")
           (hive-text-value (plist-get entry :status) 9))
         (concat (hive-text-line (plist-get entry :text) 200)
                 (if (plist-get entry :decision)
                     (hive-words "  → %s (%s)" (hive-text-line (plist-get entry :decision) 100)
                                 (hive-text-by entry 30))
                   "")))))

(defun hive-history--print ()
  "Print the results."
  (setq tabulated-list-format (hive-history--columns
                               (list (hive-words "When") 16 t)
                               (list (hive-words 'column-agent) 14 t)
                               (list (hive-words 'column-project) 16 t)
                               (list (hive-words "What") 9 t)
                               (list (hive-words "Text") 0 nil))
        tabulated-list-entries (mapcar #'hive-history--row hive-history--entries))
  (unless (cl-find (car tabulated-list-sort-key) tabulated-list-format :key #'car :test #'equal)
    (setq tabulated-list-sort-key nil))
  (tabulated-list-print t)
  (hive-text-say-empty (unless hive-history--entries
                         (or (hive-sidecar-absence) hive-history--nothing)))
  (setq mode-line-process (format " %d%s" (length hive-history--entries) (if hive-history--cursor "+" "")))
  (let ((limits (hive-history--limits)))
    (if (null limits) (tabulated-list-init-header)
      ;; After the titles of the columns, 80 columns have no room for them.
      (setq header-line-format
            (propertize (hive-text-literal (hive-words " only %s" (string-join limits ", ")))
                        'face 'hive-warning)))))

(defun hive-history--limits ()
  "Return to what the search is limited, in words.
Its text is last, because the end of a long one is cut off."
  (cl-loop for key in '(:agent :project :since :until :query)
           for value = (plist-get hive-history--search key)
           when value
           collect (pcase key
                     (:agent (hive-words 'filter-agent (hive-model-title-of value hive-history--entries 30)))
                     (:project (hive-words 'filter-project (hive-text-line value 30)))
                     (:since (hive-words "since %s" (hive-history-export-time value)))
                     (:until (hive-words "until %s" (hive-history-export-time value)))
                     (_ (hive-words 'filter-text (hive-text-line value 200))))))

;;;; Searching

(defun hive-history--fetch (&optional cursor)
  "Run the search of this buffer; with CURSOR, fetch the page there."
  (hive-rpc-fetch
   'history/search `( :limit ,hive-history--page ,@hive-history--search
                      ,@(when cursor (list :cursor cursor)))
   :then (lambda (result)
           (setq hive-history--entries (append (and cursor hive-history--entries)
                                               (append (plist-get result :entries) nil))
                 hive-history--nothing (hive-words "Nothing was found.")
                 hive-history--cursor (plist-get result :next_cursor))
           (hive-history--print))
   :failure "Hive could not search the history: %s"
   :problem (lambda (sentence _err)
              (setq hive-history--nothing sentence)
              (hive-history--print))))

(defun hive-history--begin (search)
  "Let this buffer show the results of SEARCH, which are still to be fetched."
  (hive-rpc-forget-fetch 'history/search (current-buffer))
  (setq hive-history--search search
        hive-history--entries nil
        hive-history--nothing (hive-words 'loading)
        hive-history--cursor nil)
  (hive-history--print))

(defun hive-history--go (search)
  "Show the results of SEARCH."
  (hive-history--begin search)
  (hive-history--fetch))

(defun hive-history--by (key value)
  "Search with VALUE for KEY; with an empty VALUE, without that filter."
  (hive-history--go (hive-with hive-history--search key value)))

(defun hive-history--moment (text)
  "Return the time that TEXT names, in the format of the sidecar.
TEXT is a date such as 2026-01-31, or an age such as 3h or 7d."
  (cond ((string-blank-p text) "")
        ((string-match "\\`\\([0-9]+\\)\\([mhdw]\\)\\'" text)
         (let ((seconds (* (string-to-number (match-string 1 text))
                           (pcase (match-string 2 text)
                             ("m" 60) ("h" 3600) ("d" 86400) (_ 604800)))))
           (when (> seconds (hive-now))
             (hive-fail "%s ago is before 1970; type a shorter age, or a date" text))
           (hive-text-before seconds)))
        ((string-match "\\`\\([0-9]\\{4\\}\\)-\\([0-9][0-9]\\)-\\([0-9][0-9]\\)\\'" text)
         (let ((begins (cl-flet ((part (n) (string-to-number (match-string n text))))
                         (encode-time (list 0 0 0 (part 3) (part 2) (part 1) nil -1 nil)))))
           (unless (equal text (format-time-string "%F" begins))
             (hive-fail "There is no day %s; type a date such as 2026-01-31" text))
           (format-time-string "%FT%T.000Z" begins t)))
        (t (hive-fail "Type a date such as 2026-01-31, or an age such as 3h or 7d"))))

;;;; Commands

;;;###autoload
(defun hive-history (query)
  "Search all questions, answers and messages for QUERY.
An empty QUERY shows everything, newest first.  In the buffer of the
history, an agent, a project or a time to which it is limited stays."
  (interactive (list (read-string
                      (hive-words "Search the history for: ") nil 'hive-history-queries)))
  (let ((here (derived-mode-p 'hive-history-mode))
        (buffer (hive-buffer hive-history--name #'hive-history-mode)))
    (with-current-buffer buffer
      ;; From elsewhere, limits of an earlier search would go unnoticed.
      (unless here (setq hive-history--search nil))
      (hive-history--by :query query))
    (pop-to-buffer buffer)))

(defun hive-history-state ()
  "Return the search of this buffer, for `hive-history-restore'."
  hive-history--search)

(defun hive-history-restore (search)
  "Go to the buffer of the history, for SEARCH, a value of `hive-history-state'.
Nothing is fetched yet: that is what reverting the buffer does."
  (set-buffer (hive-buffer hive-history--name #'hive-history-mode))
  (hive-history--begin search))

(defun hive-history-again ()
  "Run the same search again."
  (interactive)
  (hive-history--fetch))

(defun hive-history-older ()
  "Also show older entries."
  (interactive)
  (unless hive-history--cursor (hive-fail 'nothing-older))
  (hive-history--fetch hive-history--cursor))

(defun hive-history-open ()
  "Open the question or the message at point."
  (interactive)
  (let ((entry (or (hive-find :id (tabulated-list-get-id) hive-history--entries)
                   (hive-fail "There is no entry on this line"))))
    (if (equal (plist-get entry :kind) "message")
        (hive-history--show-message entry)
      ;; The rest is fetched.  Looking it up here does not mark it as seen.
      (hive-prompt-show (list :ask_id (plist-get entry :id) :agent (plist-get entry :agent)
                              :agent_title (plist-get entry :agent_title) :source (plist-get entry :source)
                              :project (plist-get entry :project) :status (plist-get entry :status)
                              :question (plist-get entry :text) :created_at (plist-get entry :at)
                              :seen_at (plist-get entry :at))))))

(defun hive-history--show-message (entry)
  "Show ENTRY, a message."
  (pop-to-buffer
   (hive-text-buffer
    "*hive message*"
    (lambda ()
      (insert (propertize (hive-words "%s · %s · %s\n\n"
                                  (hive-history--author entry)
                                  (hive-text-line (plist-get entry :project) 40)
                                  (hive-history-export-time (plist-get entry :at)))
                          'face 'hive-shadow)
              (hive-text-inert (plist-get entry :text)) "\n")
      (hive-links-activate (point-min) (point-max))
      (hive-wrap-heed (point-min) (point-max))))))

(defun hive-history-by-agent (agent)
  "Find only what AGENT asked or wrote; if empty, what anybody did.
AGENT is a title or a handle; the beginning is enough."
  (interactive (list (hive-read-agent "Only agent: " hive-history--entries)))
  (hive-history--by :agent (hive-model-expand-handle agent hive-history--entries)))

(defun hive-history-by-project (project)
  "Find only entries of PROJECT; if empty, of all projects."
  (interactive (list (completing-read (hive-words "Only project: ") (hive-values :project hive-history--entries))))
  (hive-history--by :project project))

(defun hive-history-since (moment)
  "Find only entries since MOMENT: 2026-01-31, or 7d for a week ago."
  (interactive (list (read-string (hive-words "Since (2026-01-31, 3h, 7d): "))))
  (hive-history--by :since (hive-history--moment moment)))

(defun hive-history-until (moment)
  "Find only entries before MOMENT: 2026-01-31, or 7d for a week ago."
  (interactive (list (read-string (hive-words "Until (2026-01-31, 3h, 7d): "))))
  (hive-history--by :until (hive-history--moment moment)))

(defun hive-history-by-nothing ()
  "Remove all filters but the text."
  (interactive)
  (let ((query (plist-get hive-history--search :query)))
    (hive-history--go (and query (list :query query)))))

(defun hive-history-export (file)
  "Write all results of the search to FILE, including those not shown.
A name that ends in .org is written as Org, any other as Markdown.
If there are too many, only the newest are written, and Emacs says so."
  (interactive (list (read-file-name
                      (hive-words "Write to (.org or .md): ") nil nil nil "hive.org")))
  (when (and (file-exists-p file)
             (not (y-or-n-p (hive-words "Overwrite %s? " (abbreviate-file-name file)))))
    (hive-fail "Nothing was written"))
  (hive-history-export-write hive-history--search file))

(provide 'hive-history)
;;; hive-history.el ends here
