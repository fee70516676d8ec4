;;; hive-install.el --- Installing the sidecar from Emacs  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; `hive-install-sidecar' installs the program into a folder of its own with
;; npm.  Nothing else on the machine changes, and every line that npm prints
;; is there to be read.

;;; Code:

(require 'hive-messages)
(require 'hive-notify)
(require 'hive-rpc)

(defvar compilation-finish-functions)  ; compile.el, loaded when it is used

(defcustom hive-install-package "hive-sidecar@latest"
  "What npm installs: a package with its version, or a file or folder."
  :type 'string
  :group 'hive)

(defun hive-install--command (npm)
  "Return the shell command for NPM."
  (mapconcat #'shell-quote-argument
             (list npm "install" "--no-fund" "--no-audit"
                   "--prefix" (expand-file-name hive-install-directory) hive-install-package)
             " "))

;;;###autoload
(defun hive-install-sidecar ()
  "Install or update the Hive sidecar, into `hive-install-directory'.
Needs Node.js with npm.  What it does is shown in a buffer as it
happens; when it is done, Hive starts with what was installed."
  (interactive)
  (let ((npm (or (executable-find "npm")
                 (hive-fail 'npm-missing hive-program-node-version))))
    (make-directory hive-install-directory t)
    (let ((default-directory (file-name-as-directory (expand-file-name hive-install-directory))))
      (with-current-buffer
          (compilation-start (hive-install--command npm) nil (lambda (_) "*hive install*"))
        (add-hook 'compilation-finish-functions #'hive-install--done nil t)))))

(defun hive-install--done (buffer outcome)
  "Start what was installed, or name BUFFER to look at; see OUTCOME."
  (cond ((not (string-prefix-p "finished" outcome))
         (hive-announce 'install-failed (buffer-name buffer)))
        ((not (hive-program-installed))
         (hive-announce 'install-incomplete hive-install-directory))
        (t (hive-announce 'installed)
           (unless (eq hive-sidecar-state 'off) (hive-restart)))))

(provide 'hive-install)
;;; hive-install.el ends here
