;;; hive-list-browse.el --- Views, filters and pages of the list  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; The commands that change what the list of questions shows.

;;; Code:

(require 'cl-lib)
(require 'hive-handles)
(require 'hive-human)
(require 'hive-list-table)
(require 'hive-list-view)
(require 'hive-text)
(require 'hive-waiting)
(require 'tabulated-list)

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
  (interactive (list (completing-read "Questions of agent: " (hive-list--known :agent)))
               hive-list-mode)
  (hive-list--filter-by :agent (hive-handles-expand agent (hive-list--known :agent))))

(defun hive-list-filter-project (project)
  "Show only the questions from PROJECT, or with an empty one from all."
  (interactive (list (completing-read "Questions from project: " (hive-list--known :project)))
               hive-list-mode)
  (hive-list--filter-by :project project))

(defun hive-list-filter-kind (kind)
  "Show only questions of KIND, or with an empty one all."
  (interactive (list (completing-read "Kind: " '("question" "permission") nil t)) hive-list-mode)
  (hive-list--filter-by :kind kind))

(defun hive-list-filter-text (text)
  "Show only questions that contain TEXT, or with an empty one all."
  (interactive (list (read-string "Questions with: ")) hive-list-mode)
  (hive-list--filter-by :query text))

(defun hive-list-filter-for (name)
  "Show only the questions for NAME, a human or a team, or with an empty one all."
  (interactive (list (completing-read "Questions for: "
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
    (user-error (if forward "This is the last page" "This is the first page")))
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

(provide 'hive-list-browse)
;;; hive-list-browse.el ends here
