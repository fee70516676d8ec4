;;; hive-human.el --- Who you are among several humans  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; Your name, which questions concern you, and who has taken one up.  A
;; question without an address concerns everybody; one for a human or a
;; team those, and everybody once it is escalated (docs/humans.md).

;;; Code:

(require 'cl-lib)
(require 'hive-messages)
(require 'hive-text)
(require 'subr-x)

;;;; Who you are among several humans

(defcustom hive-user-name nil
  "The name under which your answers are kept, and you are asked.
Agents see it.  Nil means HIVE_USER of the environment, or else
your login name."
  :type '(choice (const :tag "HIVE_USER or login name" nil) string)
  :group 'hive)

(defvar hive-human-names nil
  "The names that reach you, as the sidecar compares them.")

(defun hive-human-name ()
  "Return your name."
  (hive-text-sendable
   (or (cl-find-if (lambda (name) (and name (not (string-blank-p name))))
                   (list hive-user-name (getenv "HIVE_USER")))
       (user-login-name))))

(defun hive-human-mine-p (prompt)
  "Return non-nil if PROMPT concerns you."
  (or (null (plist-get prompt :to))
      (plist-get prompt :escalated_at)
      (null hive-human-names)           ; a sidecar that knows of no names
      (cl-some (lambda (name) (member name hive-human-names))
               (append (plist-get prompt :recipients) nil))))

(defun hive-human-claimer (prompt)
  "Return who else has taken PROMPT up, or nil."
  (let ((by (plist-get prompt :claimed_by)))
    (and by (not (equal by (hive-human-name))) by)))

(defun hive-human-note (prompt)
  "Return whom PROMPT is for and who is at it, in brackets, or \"\"."
  (let ((to (plist-get prompt :to)) (by (hive-human-claimer prompt)))
    (concat (and to (hive-words 'for-whom (hive-text-line to 30)
                                (if (plist-get prompt :escalated_at)
                                    (hive-words 'for-everybody)
                                  "")))
            (and by (hive-words 'claimed (hive-text-line by 30))))))

;;;; Which project a directory belongs to

;; A project is the git common directory, so that several worktrees are one
;; project, or else the directory itself.  The sidecar decides; this is the
;; same rule, for what has to be known before it answers: the name of a
;; buffer, and whether there is one already.

(defun hive-human--read (file)
  "Return the first line of FILE, or nil."
  (ignore-errors
    (with-temp-buffer
      (insert-file-contents file)
      (string-trim (buffer-substring (point-min) (line-end-position))))))

(defun hive-human--git-directory (folder)
  "Return the git common directory of FOLDER, which has a .git."
  (let* ((dot (expand-file-name ".git" folder))
         (git (if (file-directory-p dot) dot
                (expand-file-name (string-trim (string-remove-prefix
                                                "gitdir:" (or (hive-human--read dot) ".git")))
                                  folder)))
         (common (hive-human--read (expand-file-name "commondir" git))))
    (if common (expand-file-name common git) git)))

(defun hive-place-of (&optional directory)
  "Return the place of DIRECTORY, a plist of :directory, :project, :project_dir.
DIRECTORY defaults to `default-directory'.  Nil for a directory on
another machine, whose projects nobody here knows."
  (let ((directory (expand-file-name (or directory default-directory))))
    (unless (file-remote-p directory)
      (let* ((root (locate-dominating-file directory ".git"))
             (git (and root (hive-human--git-directory (expand-file-name root))))
             (own (directory-file-name directory))
             (named (cond ((null git) own)
                          ((equal ".git" (file-name-nondirectory git))
                           (directory-file-name (file-name-directory git)))
                          (t (string-remove-suffix ".git" git))))
             (name (file-name-nondirectory named)))
        (list :directory directory
              :project (if (string-empty-p name) own name)
              :project_dir (directory-file-name (or git own)))))))

(defun hive-place-params (place)
  "Return how requests name PLACE: by its identity, or by a directory in it."
  (let ((project-dir (and (plist-get place :confirmed) (plist-get place :project_dir))))
    (cond (project-dir (list :project_dir project-dir))
          ((plist-get place :directory)
           (list :directory (plist-get place :directory))))))

(provide 'hive-human)
;;; hive-human.el ends here
