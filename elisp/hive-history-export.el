;;; hive-history-export.el --- History as Org or Markdown  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; Everything that a search finds, fetched page by page and written into one
;; file.  What agents wrote stands in it as text: it cannot become a heading,
;; a link that is followed or a block that is run.

;;; Code:

(require 'cl-lib)
(require 'hive-notify)
(require 'hive-rpc)
(require 'hive-text)

(defconst hive-history-export--page 200 "How many entries are fetched at once.")
(defconst hive-history-export--most 20000 "How many entries are written at most.")

(defun hive-history-export-time (time)
  "Return TIME of the wire as people here read it."
  (let ((seconds (hive-text-seconds time)))
    (if seconds (format-time-string "%F %H:%M" seconds) "")))

;;;; What is written

(defun hive-history-export--lines (text prefix)
  "Return TEXT, inert, with PREFIX before each line."
  (replace-regexp-in-string "^" prefix (hive-text-inert text) t t))

(defun hive-history-export--org (entry)
  "Return ENTRY as Org."
  (concat
   (format "* %s %s: %s\n" (hive-history-export-time (plist-get entry :at))
           (hive-text-agent entry 40)
           (hive-text-line (plist-get entry :text) 60))
   ;; A colon before a line makes it literal: neither a heading nor a block.
   (hive-history-export--lines (plist-get entry :text) ": ") "\n"
   (if (plist-get entry :decision)
       (format "\n%s:\n%s\n" (hive-text-line (or (plist-get entry :by) "") 40)
               (hive-history-export--lines (plist-get entry :decision) ": "))
     (if (plist-get entry :status)
         (format "\n/%s/\n" (hive-text-line (plist-get entry :status) 20)) ""))
   "\n"))

(defun hive-history-export--markdown (entry)
  "Return ENTRY as Markdown."
  (concat
   (format "## %s `%s`\n\n" (hive-history-export-time (plist-get entry :at))
           (replace-regexp-in-string "`" "'" (hive-text-agent entry 40)))
   ;; Four spaces make a line literal.
   (hive-history-export--lines (plist-get entry :text) "    ") "\n\n"
   (if (plist-get entry :decision)
       (format "→ `%s`:\n\n%s\n\n"
               (replace-regexp-in-string "`" "'" (hive-text-line (or (plist-get entry :by) "") 40))
               (hive-history-export--lines (plist-get entry :decision) "    "))
     (if (plist-get entry :status)
         (format "*%s*\n\n" (hive-text-line (plist-get entry :status) 20)) ""))))

(defun hive-history-export-text (entries org)
  "Return ENTRIES as one text, Org if ORG, else Markdown."
  (mapconcat (if org #'hive-history-export--org #'hive-history-export--markdown) entries ""))

;;;; Fetching and writing

(defun hive-history-export-write (search file)
  "Write the outcome of SEARCH into FILE, and say when it is done."
  (message "Writing %s…" (abbreviate-file-name file))
  (hive-history-export--fetch search (expand-file-name file) nil nil))

(defun hive-history-export--fetch (search file cursor found)
  "Fetch more of SEARCH, from CURSOR on, beyond FOUND, to be put into FILE."
  (hive-rpc-request
   'history/search `( :limit ,hive-history-export--page :full t ,@search
                      ,@(when cursor (list :cursor cursor)))
   :timeout 30
   :success (lambda (result)
              (let ((found (append (reverse (append (plist-get result :entries) nil)) found))
                    (next (plist-get result :next_cursor)))
                (if (and next (< (length found) hive-history-export--most))
                    (hive-history-export--fetch search file next found)
                  (hive-history-export--save (nreverse found) file))))
   :error (lambda (err)
            (hive-notify-say "Nothing was written: %s"
                             (hive-text-line (plist-get err :text) 200)))))

(defun hive-history-export--save (entries file)
  "Write ENTRIES into FILE."
  (condition-case oops
      (let ((coding-system-for-write 'utf-8-unix))
        (write-region (hive-history-export-text entries (string-suffix-p ".org" file))
                      nil file nil 'silent)
        (hive-notify-say "Wrote %d entries to %s" (length entries) (abbreviate-file-name file)))
    (file-error (hive-notify-say "Nothing was written: %s" (error-message-string oops)))))

(provide 'hive-history-export)
;;; hive-history-export.el ends here
