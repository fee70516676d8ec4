;;; hive-place.el --- Which project a directory belongs to  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; A project is the git common directory, so that several worktrees are one
;; project, or else the directory itself.  The sidecar decides; this is the
;; same rule, for what has to be known before it answers: the name of a
;; buffer, and whether there is one already.

;;; Code:

(require 'subr-x)

(defun hive-place--read (file)
  "Return the first line of FILE, or nil."
  (ignore-errors
    (with-temp-buffer
      (insert-file-contents file)
      (string-trim (buffer-substring (point-min) (line-end-position))))))

(defun hive-place--git-directory (folder)
  "Return the git common directory of FOLDER, which has a .git."
  (let* ((dot (expand-file-name ".git" folder))
         (git (if (file-directory-p dot) dot
                (expand-file-name (string-trim (string-remove-prefix
                                                "gitdir:" (or (hive-place--read dot) ".git")))
                                  folder)))
         (common (hive-place--read (expand-file-name "commondir" git))))
    (if common (expand-file-name common git) git)))

(defun hive-place-of (&optional directory)
  "Return the place of DIRECTORY, a plist of :directory, :project, :project_dir.
DIRECTORY defaults to `default-directory'.  Nil for a directory on
another machine, whose projects nobody here knows."
  (let ((directory (expand-file-name (or directory default-directory))))
    (unless (file-remote-p directory)
      (let* ((root (locate-dominating-file directory ".git"))
             (git (and root (hive-place--git-directory (expand-file-name root))))
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

(provide 'hive-place)
;;; hive-place.el ends here
