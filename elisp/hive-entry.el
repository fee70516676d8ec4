;;; hive-entry.el --- An answer on its way, in memory and on disk  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; One entry of the outbox, the records that tell its life, and how the
;; records of a file become entries again.

;;; Code:

(require 'cl-lib)
(require 'hive-journal)
(require 'hive-place)

(cl-defstruct (hive-entry (:constructor hive-entry-make)
                       (:copier nil))
  "An answer on its way.  FILE is where its records stand.
TOPIC remembers what `hive-entry-subject' found."
  file store-id response-id ask-id method params at topic
  (state 'pending) code text (attempts 0) (faults 0) (not-before 0))

(defun hive-entry-subject (entry)
  "Return what ENTRY is about: a question, or the conversation of a project.
Entries about the same depend on each other: the order in which
they reach the store is part of what they say.  Compare by `equal'."
  (or (hive-entry-topic entry)
      (setf (hive-entry-topic entry)
            (let* ((params (hive-entry-params entry))
                   (directory (plist-get params :directory)))
              (or (hive-entry-ask-id entry)
                  (plist-get params :project_dir)
                  (and (stringp directory)
                       (plist-get (hive-place-of directory) :project_dir))
                  'everyone)))))

(defun hive-entry-first (entries)
  "Return those of ENTRIES, oldest first, which wait for no other of them.
They are the first about their subject each."
  (let ((subjects (make-hash-table :test #'equal)))
    (cl-loop for entry in entries
             for subject = (hive-entry-subject entry)
             unless (gethash subject subjects)
             do (puthash subject t subjects) and collect entry)))

(defun hive-entry-record (entry)
  "Return the record of ENTRY itself."
  (list :entry "answer"
        :store_id (hive-entry-store-id entry)
        :response_id (hive-entry-response-id entry)
        :ask_id (hive-entry-ask-id entry)
        :method (hive-entry-method entry)
        :params (hive-entry-params entry)
        :at (hive-entry-at entry)))

(defun hive-entry-rejection (entry)
  "Return the record of the rejection of ENTRY."
  (list :entry "rejected"
        :response_id (hive-entry-response-id entry)
        :code (hive-entry-code entry)
        :text (hive-entry-text entry)))

(defun hive-entry-load (file)
  "Return the entries of FILE that are not acked, oldest first."
  (let ((entries (make-hash-table :test #'equal)) order)
    (dolist (record (hive-journal-read file))
      (let* ((id (plist-get record :response_id))
             (entry (gethash id entries)))
        (pcase (plist-get record :entry)
          ("answer"
           (unless (or entry (null id))
             (push id order)
             (puthash id (hive-entry-make
                          :file file :response-id id
                          :store-id (plist-get record :store_id)
                          :ask-id (plist-get record :ask_id)
                          :method (plist-get record :method)
                          :params (plist-get record :params)
                          :at (plist-get record :at))
                      entries)))
          ("acked" (remhash id entries))
          ("rejected"
           (when entry
             (setf (hive-entry-state entry) 'rejected
                   (hive-entry-code entry) (plist-get record :code)
                   (hive-entry-text entry) (plist-get record :text)))))))
    (delq nil (mapcar (lambda (id) (gethash id entries)) (nreverse order)))))

(provide 'hive-entry)
;;; hive-entry.el ends here
