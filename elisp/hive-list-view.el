;;; hive-list-view.el --- What the list of questions shows  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; A view is what became of the questions; a filter narrows it to an agent, a
;; project, a kind or a text; pages show so many rows at once.  What waits is
;; in the model already; what is settled is fetched from the store page by
;; page, by cursor.

;;; Code:

(require 'cl-lib)
(require 'hive-notify)
(require 'hive-rpc)
(require 'hive-text)
(require 'hive-waiting)
(require 'subr-x)

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
              (hive-notify-say "Hive could not fetch the list: %s"
                               (hive-text-line (plist-get err :text) 200))))))

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

(provide 'hive-list-view)
;;; hive-list-view.el ends here
