;;; hive-feed.el --- How the questions reach the desk  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; What the sidecar tells of prompts goes into the model.  Each connect, and
;; each time the sidecar lost its place in the log, fetches a snapshot of all
;; that waits; what is told while it is fetched is applied on top of it.

;;; Code:

(require 'cl-lib)
(require 'hive-model)
(require 'hive-rpc)
(require 'hive-work)

;;;; What is told

(defvar hive-feed--meanwhile nil
  "While a snapshot is fetched, a cons whose cdr is what was told meanwhile.")

(defun hive-feed--told (prompt)
  "Take PROMPT, which the sidecar told of its own accord."
  (when hive-feed--meanwhile
    (push prompt (cdr hive-feed--meanwhile)))
  (when (hive-model-put-prompt prompt)
    (run-hook-with-args 'hive-arrived-functions prompt)))

(cl-defmethod hive-rpc-notify ((_method (eql 'hivemind-ask)) prompt)
  "Take PROMPT, a new question."
  (hive-feed--told prompt))

(cl-defmethod hive-rpc-notify ((_method (eql 'prompt/changed)) prompt)
  "Take PROMPT, a question with which something happened."
  (hive-feed--told prompt))

;;;; Snapshot

(defconst hive-feed--first-delay 2 "Seconds after which a snapshot that failed is tried again.")
(defconst hive-feed--longest-delay 60 "Seconds between two attempts at most.")

(defvar hive-feed--timer nil "The timer of the next attempt, or nil.")
(defvar hive-feed--delay hive-feed--first-delay "Seconds until it, where this one fails.")

(defun hive-feed--cancel ()
  "Plan no further attempt."
  (when hive-feed--timer (cancel-timer hive-feed--timer))
  (setq hive-feed--timer nil))

(defun hive-feed--again ()
  "Fetch anew after a while, and after a longer one the next time."
  (let ((delay hive-feed--delay))
    (setq hive-feed--delay (min hive-feed--longest-delay (* 2 delay))
          hive-feed--timer (run-at-time delay nil #'hive-feed-refresh))))

(defun hive-feed-refresh ()
  "Fetch all that waits, page by page, then replace what is known by it."
  (hive-feed--cancel)
  (let ((meanwhile (list 'told)))
    (setq hive-feed--meanwhile meanwhile)
    (hive-feed--fetch nil nil meanwhile)))

(defun hive-feed--fetch (cursor pages meanwhile)
  "Fetch the page at CURSOR and add it to PAGES.
MEANWHILE collects what is told until the last page is here; a
newer refresh has another one, and this one then gives up."
  (hive-rpc-request
   'prompt/list `( :status "pending" :limit 500
                   ,@(when cursor (list :cursor cursor)))
   :timeout 30
   :success
   (lambda (result)
     (when (eq meanwhile hive-feed--meanwhile)
       (let ((pages (cons (plist-get result :prompts) pages))
             (next (plist-get result :next_cursor)))
         (if next
             (hive-feed--fetch next pages meanwhile)
           (setq hive-feed--meanwhile nil
                 hive-feed--delay hive-feed--first-delay)
           (hive-model-replace (apply #'append (mapcar (lambda (page) (append page nil))
                                                       (nreverse pages)))
                               (reverse (cdr meanwhile)))))))
   :error
   (lambda (err)
     (when (eq meanwhile hive-feed--meanwhile)
       (setq hive-feed--meanwhile nil)
       (unless (eq (plist-get err :name) 'disconnected)
         (hive-work-log "no snapshot: %S" err)
         (hive-feed--again))))))

(cl-defmethod hive-rpc-notify ((_method (eql 'desk/resync)) _params)
  "Fetch everything anew: the sidecar lost its place in the log."
  (hive-feed-refresh))

(defun hive-feed-stop ()
  "Give up the snapshot that is on its way: Hive is turned off."
  (hive-feed--cancel)
  (setq hive-feed--meanwhile nil
        hive-feed--delay hive-feed--first-delay))

(defun hive-feed-complete-p ()
  "Return non-nil unless a snapshot is on its way, or still to come."
  (not (or hive-feed--meanwhile hive-feed--timer)))

(provide 'hive-feed)
;;; hive-feed.el ends here
