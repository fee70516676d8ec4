;;; hive-human.el --- Who you are, and where  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Your name, which questions concern you (the sidecar decides that), and who
;; is answering one.  Also, which project a directory belongs to.

;;; Code:

(require 'cl-lib)
(require 'hive-messages)
(require 'hive-text)
(require 'subr-x)

;;;; You among several humans

(defcustom hive-user-name nil
  "Your name, under which answers are stored and questions address you.
Agents see it.  Nil means the environment variable HIVE_USER, or
else your login name."
  :type '(choice (const :tag "HIVE_USER or login name" nil) string)
  :group 'hive)

(defun hive-human-name ()
  "Return your name."
  (hive-text-sendable
   (or (cl-find-if (lambda (name) (and name (not (string-blank-p name))))
                   (list hive-user-name (getenv "HIVE_USER")))
       (user-login-name))))

(defun hive-human-mine-p (prompt)
  "Return non-nil if PROMPT concerns you, which the sidecar decides."
  (not (eq :json-false (plist-get prompt :mine))))

(defun hive-human-claimer (prompt)
  "Return who else is answering PROMPT, or nil."
  (let ((by (plist-get prompt :claimed_by)))
    (and by (not (equal by (hive-human-name))) by)))

(defun hive-human-label (prompt)
  "Return, in brackets, what a human should know of PROMPT, or \"\".
It is that its session has ended, whom it is for, and who is answering it."
  (let ((to (plist-get prompt :to)) (by (hive-human-claimer prompt)))
    (concat (and (eq t (plist-get prompt :orphaned))
                 (equal "pending" (plist-get prompt :status))
                 (hive-words "[session ended] "))
            (and to (hive-words "[for %s%s] " (hive-text-line to 30)
                                (if (plist-get prompt :escalated_at)
                                    (hive-words ", now for everybody")
                                  "")))
            (and by (hive-words "[%s is answering] " (hive-text-line by 30))))))

;;;; Which project a directory belongs to

;; A project is identified by the git common directory, so all worktrees are
;; one project; without git, by the directory itself.  The sidecar decides.
;; Emacs applies the same rule where it cannot wait for a reply: to name a
;; buffer, and to find the one that exists.

(defun hive-human--read (file)
  "Return the first line of FILE, or nil."
  ;; Reading a named pipe would wait for its writer.
  (when (file-regular-p file)
    (ignore-errors
      (with-temp-buffer
        (insert-file-contents file)
        (string-trim (buffer-substring (point-min) (line-end-position)))))))

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
DIRECTORY, an absolute name, defaults to `default-directory'.  Return nil
for a remote directory."
  (let ((named (or directory default-directory)))
    ;; Expanding a name in a remote home would connect to that machine.
    (unless (file-remote-p named)
      (let* ((directory (expand-file-name named))
             (root (locate-dominating-file directory ".git"))
             (git (and root (hive-human--git-directory (expand-file-name root))))
             (own (directory-file-name directory))
             (repository (cond ((null git) own)
                               ((equal ".git" (file-name-nondirectory git))
                                (directory-file-name (file-name-directory git)))
                               (t (string-remove-suffix ".git" git))))
             (name (file-name-nondirectory repository)))
        (list :directory directory
              :project (if (string-empty-p name) own name)
              :project_dir (directory-file-name (or git own)))))))

(defun hive-place-from (thing)
  "Return the place of THING, a plist from the sidecar; nil if that is everyone's."
  (when (plist-get thing :project_dir)
    (list :confirmed t
          :project (plist-get thing :project)
          :project_dir (plist-get thing :project_dir))))

(defun hive-place-params (place)
  "Return the request parameters for PLACE: its identity, or a directory in it."
  (let ((project-dir (and (plist-get place :confirmed) (plist-get place :project_dir))))
    (cond (project-dir (list :project_dir project-dir))
          ((plist-get place :directory)
           (list :directory (plist-get place :directory))))))

(provide 'hive-human)
;;; hive-human.el ends here
