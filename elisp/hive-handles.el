;;; hive-handles.el --- Who is here, and what they are called  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; The living sessions, as the sidecar tells them, and the completion of
;; their handles after an @.

;;; Code:

(require 'cl-lib)
(require 'hive-rpc)
(require 'hive-sidecar)
(require 'hive-text)
(require 'hive-work)

(defvar hive-handles--sessions (make-hash-table :test #'equal)
  "The sessions that live, by their ids.")

(defvar hive-handles-changed-hook nil
  "Run when a session came, changed or went.")

(defvar hive-handles-listed-functions nil
  "Called with the sessions that live, as the sidecar lists them anew.
They are plists, each with the :turn that it is in.")

(defconst hive-handles--most 1000 "How many sessions are known at most.")

;;;; Who is here

(defun hive-handles-sessions ()
  "Return the sessions that live, as plists, by their handles."
  (let (sessions)
    (maphash (lambda (_id session) (push session sessions)) hive-handles--sessions)
    (sort sessions (lambda (a b) (string< (plist-get a :handle) (plist-get b :handle))))))

(defun hive-handles-session (session-id)
  "Return the living session with SESSION-ID, or nil."
  (gethash session-id hive-handles--sessions))

(defun hive-handles--take (session)
  "Remember SESSION as it now is."
  (let ((id (plist-get session :session_id)))
    (cond ((equal (plist-get session :state) "ended")
           (remhash id hive-handles--sessions))
          ((or (gethash id hive-handles--sessions)
               (< (hash-table-count hive-handles--sessions) hive-handles--most))
           (puthash id session hive-handles--sessions)))))

(defun hive-handles-refresh ()
  "Ask the sidecar who is here."
  (hive-rpc-request
   'session/list (list :state "alive" :limit hive-handles--most)
   :success (lambda (result)
              (let ((sessions (append (plist-get result :sessions) nil)))
                ;; Of whom a cut list is silent, nothing new is known.
                (unless (hive-rpc-true-p result :more) (clrhash hive-handles--sessions))
                (mapc #'hive-handles--take sessions)
                (run-hook-with-args 'hive-handles-listed-functions sessions)
                (run-hooks 'hive-handles-changed-hook)))
   :error (lambda (err) (hive-work-log "no sessions: %S" err))))

(cl-defmethod hive-rpc-notify ((_method (eql 'session/changed)) session)
  "Take SESSION, with which something happened."
  (hive-handles--take session)
  (run-hooks 'hive-handles-changed-hook))

(defun hive-handles--sidecar ()
  "Forget everybody when Hive is turned off."
  (when (eq hive-sidecar-state 'off)
    (clrhash hive-handles--sessions)))

(add-hook 'hive-connected-hook #'hive-handles-refresh)
(add-hook 'hive-sidecar-state-hook #'hive-handles--sidecar)

;;;; Names

(defun hive-handles-names (&optional project-dir)
  "Return what can be mentioned, without the @: handles, roles, All, Human.
Sessions of PROJECT-DIR come first; those that take no mentions do
not come at all."
  (let* ((sessions (cl-remove-if-not (lambda (session) (hive-rpc-true-p session :shared))
                                     (hive-handles-sessions)))
         (near (cl-remove-if-not (lambda (session)
                                   (equal project-dir (plist-get session :project_dir)))
                                 sessions))
         (all (append near (cl-set-difference sessions near))))
    (delete-dups
     (append (mapcar (lambda (session) (hive-text-line (plist-get session :handle))) all)
             (mapcar #'hive-text-line
                     (cl-mapcan (lambda (session) (append (plist-get session :roles) nil)) all))
             (list "All" "Human")))))

(defun hive-handles--annotation (name)
  "Return what is said of NAME beside it in a list of candidates."
  (let ((session (cl-find name (hive-handles-sessions) :test #'equal
                          :key (lambda (session) (plist-get session :handle)))))
    (cond (session (format "  %s  %s" (hive-text-line (plist-get session :project) 24)
                           (hive-text-line (plist-get session :state) 8)))
          ((equal name "All") "  everyone here")
          ((equal name "Human") "  you")
          (t "  role"))))

(defun hive-handles-table (&optional project-dir)
  "Return a completion table of what can be mentioned, whatever its case.
Sessions of PROJECT-DIR come first."
  (lambda (string predicate action)
    (if (eq action 'metadata)
        '(metadata (category . hive-handle)
                   (annotation-function . hive-handles--annotation)
                   (display-sort-function . identity)
                   (cycle-sort-function . identity))
      (let ((completion-ignore-case t))
        (complete-with-action action (hive-handles-names project-dir)
                              string predicate)))))

;;;; What was typed

(defun hive-handles-expand (typed names)
  "Return which of NAMES is meant by TYPED, the first letters of one.
Case does not matter.  What begins none of them is returned as it
is; several are a `user-error' that names them."
  (let* ((typed (string-remove-prefix "@" typed))
         (found (unless (string-empty-p typed)
                  (cl-remove-if-not (lambda (name) (string-prefix-p typed name t))
                                    (cl-remove-duplicates (remq nil names) :test #'equal))))
         (same (cl-find typed found :test #'cl-equalp)))
    (cond (same)
          ((cdr found)
           (user-error "%s begins several names: %s" (hive-text-line typed 40)
                       (mapconcat (lambda (name) (hive-text-line name 40)) found ", ")))
          (t (or (car found) typed)))))

;;;; Completion in text

(defvar-local hive-handles-project-dir nil
  "The project whose sessions are offered first in this buffer.")

(defun hive-handles-complete ()
  "Complete the handle after an @ at point; for `completion-at-point-functions'."
  (save-excursion
    (skip-chars-forward "[:alnum:]_-")
    (let ((end (point)))
      (skip-chars-backward "[:alnum:]_-")
      (when (and (eq (char-before) ?@)
                 (not (and (> (1- (point)) (point-min))
                           (string-match-p "[[:alnum:]./@]"
                                           (string (char-before (1- (point))))))))
        (list (point) end (hive-handles-table hive-handles-project-dir)
              :exclusive 'no)))))

(provide 'hive-handles)
;;; hive-handles.el ends here
