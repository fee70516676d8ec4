;;; hive-program.el --- The program of the sidecar  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Which program the sidecar is, with which options it is started, and in which
;; environment.

;;; Code:

(require 'hive-messages)

;;;; Options

(defcustom hive-sidecar-command nil
  "The command that starts the sidecar, a list of strings.
Nil means the program `hive' with the argument \"sidecar\": the
one in `hive-install-directory', or else the one found
on variable `exec-path', or else the one of the package that this
library belongs to; see also `hive-node-program'."
  :type '(choice (const :tag "hive sidecar" nil) (repeat string))
  :group 'hive)

(defcustom hive-node-program nil
  "The Node.js that runs the sidecar, or nil to let hive find it.
Set it if the first node on your PATH is too old for Hive."
  :type '(choice (const :tag "As hive finds it" nil) file)
  :group 'hive)

(defcustom hive-store nil
  "The store: an absolute file name, a postgres:// URL, or nil.
Nil means the environment variable HIVE_STORE, or else the sidecar's
default."
  :type '(choice (const :tag "Default" nil) string)
  :group 'hive)

(defcustom hive-install-directory
  (let ((data (getenv "XDG_DATA_HOME")))
    (expand-file-name "hive/" (if (and data (file-name-absolute-p data)) data "~/.local/share")))
  "Where Hive's program is installed for you.
`hive install', \\[hive-install-sidecar] and `npm run install-hive' all
install there.  Another directory gets no link in ~/.local/bin."
  :type 'directory
  :group 'hive)

(defcustom hive-serve nil
  "Where the sidecar accepts agents on other machines, as `hive serve' does.
A port, or \"HOST:PORT\"; nil means nowhere.  The agents need a token:
see the command hive token.  The first Emacs that starts gets the
port.  It takes effect when the sidecar starts (\\[hive-restart])."
  :type '(choice (const :tag "Not" nil) (natnum :tag "Port") (string :tag "HOST:PORT"))
  :group 'hive)

(defcustom hive-serve-inbox nil
  "Whether `hive-serve' serves the inbox for your phone, too.
A string is the address at which phones reach it, such as
\"https://hive.example.org\": that of a proxy with TLS.  It takes effect
when the sidecar starts (\\[hive-restart])."
  :type '(choice (const :tag "No" nil) (const :tag "Yes" t) (string :tag "Address"))
  :group 'hive)

(defcustom hive-opencode nil
  "Servers of opencode whose agents ask at this desk as well.
A list of addresses such as \"http://127.0.0.1:4096\".  The sidecar then
does what `hive attach opencode' does.  It takes effect when the sidecar
starts (\\[hive-restart])."
  :type '(repeat (string :tag "Address"))
  :group 'hive)

;;;; The program

(define-error 'hive-program-missing "Hive cannot start its sidecar")

(defun hive-program--find (program what-to-do)
  "Return the absolute name of PROGRAM, or signal an error with WHAT-TO-DO."
  (or (executable-find program)
      (signal 'hive-program-missing
              (list (hive-words "the program `%s' was not found; %s" program what-to-do)))))

(defun hive-program-installed ()
  "Return the program `hive' in `hive-install-directory', or nil."
  (let ((program (expand-file-name "bin/hive" hive-install-directory)))
    (and (file-executable-p program)
         (file-exists-p (expand-file-name "current" hive-install-directory))
         program)))

(defun hive-program-node ()
  "Return the Node.js of the installed program, or nil."
  (let ((node (expand-file-name "current/bin/node" hive-install-directory)))
    (and (hive-program-installed) (file-executable-p node) node)))

(defun hive-program--script (program)
  "Return the script behind PROGRAM, which Node.js can run.
What `hive install' has installed starts with a shell script."
  (let ((script (expand-file-name "../current/node_modules/hive-sidecar/bin/hive"
                                  (file-name-directory (file-truename program)))))
    (if (file-exists-p script) script program)))

;; Package managers make a folder in which each file is a link, and compile the
;; files there, so the source leads to the package, and not the compiled file.
;; A link to the whole package is kept: an update replaces it.
;; All this is computed again when an updated package is loaded.
(defconst hive-program-directory
  (let* ((file (or load-file-name buffer-file-name default-directory))
         (source (concat (file-name-sans-extension file) ".el"))
         (loaded (file-name-directory file))
         (real (file-name-directory (file-truename (if (file-exists-p source) source file)))))
    (if (file-equal-p (expand-file-name ".." loaded) (expand-file-name ".." real))
        loaded
      real))
  "The directory of this library in its package.")

;; An Emacs that the desktop starts often lacks the PATH of the shell.
(defconst hive-program--beside (expand-file-name "../bin/hive" hive-program-directory)
  "The program `hive' of the package that contains this library.")

(defun hive-program--hive ()
  "Return the absolute name of the program `hive', or signal an error."
  (or (hive-program-installed)
      (executable-find "hive")
      (and hive-program--beside (file-executable-p hive-program--beside)
           hive-program--beside)
      (hive-program--find
       "hive"
       (hive-words "install it with M-x hive-install-sidecar; if it is already installed, add its directory to `exec-path' or set `hive-sidecar-command' to (\"/path/to/hive\" \"sidecar\")"))))

(defun hive-program-command ()
  "Return the command of the sidecar, with absolute names of programs.
Signal `hive-program-missing' with a sentence if one is missing."
  (cond
   (hive-sidecar-command
    (cons (hive-program--find (car hive-sidecar-command)
                          (hive-words 'program-missing-option 'hive-sidecar-command))
          (cdr hive-sidecar-command)))
   (hive-node-program
    (list (hive-program--find hive-node-program (hive-words 'program-missing-option 'hive-node-program))
          (hive-program--script (hive-program--hive)) "sidecar"))
   (t (list (hive-program--hive) "sidecar"))))

(defun hive-program-sidecar ()
  "Return the command of the sidecar with its options."
  (append (hive-program-command)
          (when hive-serve (list "--serve" (format "%s" hive-serve)))
          (when (and hive-serve hive-serve-inbox)
            (cons "--inbox" (and (stringp hive-serve-inbox) (list hive-serve-inbox))))
          (when hive-opencode (cons "--opencode" hive-opencode))))

;;;; The environment

(defun hive-program-environment ()
  "Return the environment of the sidecar.
The variables of agents stay in it: from them the sidecar sees that an
agent has started this Emacs, which then is not the human's desk.
The buffer of an agent has variables of its own; they say nothing of
this Emacs."
  (let ((environment (default-value 'process-environment)))
    (if hive-store
        (cons (concat "HIVE_STORE=" (if (file-name-absolute-p hive-store)
                                        (expand-file-name hive-store)
                                      hive-store))
              environment)
      environment)))

(provide 'hive-program)
;;; hive-program.el ends here
