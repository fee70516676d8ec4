;;; hive-token.el --- Let agents of other machines ask here  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; `hive-token-for-directory' makes a token for the machine or container of a
;; TRAMP directory, writes it there, and shows how its agents use it.
;;
;; A token is authority, so only the command `hive token' makes one.  It refuses
;; agents and every process that no person has started; here it is a child of the
;; human's Emacs.  The sidecar makes none, so nothing that reaches the sidecar can
;; ask for one.  The secret travels over pipes and TRAMP only.  It is on no
;; command line, in no buffer that stays, and in no message.

;;; Code:

(require 'cl-lib)
(require 'json)
(require 'hive-messages)
(require 'hive-rpc)

;;;; The command hive token

(defun hive-token--run (&rest words)
  "Run `hive token' with WORDS and return its result, a plist.
Signal a `user-error' with what it complains about."
  (let* ((command (hive-program-command))
         (program (cl-subseq command 0 (cl-position "sidecar" command :test #'equal)))
         ;; The directory of the current buffer may be remote.
         (default-directory temporary-file-directory)
         (process-environment (hive-program-environment))
         (complaints (make-temp-file "hive-token-")))
    (unwind-protect
        (with-temp-buffer
          (if (eq 0 (apply #'call-process (car program) nil (list t complaints) nil
                           (append (cdr program) '("token") words '("--json"))))
              (progn (goto-char (point-min))
                     (json-parse-buffer :object-type 'plist))
            (erase-buffer)
            (insert-file-contents complaints)
            (hive-fail 'from-sidecar (string-remove-prefix "hive: " (string-trim (buffer-string))))))
      (delete-file complaints))))

(defun hive-token--known-p (name)
  "Return non-nil if there is a valid token called NAME."
  (cl-some (lambda (token)
             (and (equal name (plist-get token :name))
                  (memq (plist-get token :revoked_at) '(nil :null))))
           (plist-get (hive-token--run "list") :tokens)))

(defun hive-token--make (name)
  "Return the secret of a token called NAME, a new one or a rotated one."
  (if (hive-token--known-p name)
      (if (yes-or-no-p
           (hive-words "Token %s already exists.  Replace its secret?  The old one stops working. "
                       name))
          (plist-get (hive-token--run "rotate" name) :secret)
        (hive-fail "Token %s was not changed; choose another name" name))
    (plist-get (hive-token--run "make" name) :secret)))

;;;; The file over there

(defun hive-token--file (directory)
  "Return the name of the token file at home on the machine of DIRECTORY."
  (expand-file-name (concat (file-remote-p directory) "~/.config/hive/token")))

(defun hive-token--write (file secret)
  "Write SECRET into FILE, readable by its owner alone.
A new file replaces any existing one."
  (let ((draft (concat file ".new"))
        (coding-system-for-write 'utf-8-unix)
        (write-region-inhibit-fsync nil))
    (ignore-errors (delete-file draft))
    (unwind-protect
        (progn
          (with-file-modes #o600
            (write-region "" nil draft nil 'quiet nil 'excl)
            (set-file-modes draft #o600)
            (write-region (concat secret "\n") nil draft nil 'quiet))
          (unless (eq #o600 (file-modes draft))
            (hive-fail "%s can be read by others there, so the token was not stored there" draft))
          (rename-file draft file t))
      (ignore-errors (delete-file draft)))))

(defun hive-token--install (name file)
  "Make the token NAME and write it into FILE; leave no token without a file."
  (with-file-modes #o700
    (make-directory (file-name-directory file) t))
  (let ((secret (hive-token--make name)) (written nil))
    (unwind-protect
        (progn (hive-token--write file secret)
               (setq written t))
      (clear-string secret)
      (unless written (hive-token--run "revoke" name)))))

;;;; Defaults

(defun hive-token--name (directory)
  "Return a name for the token of DIRECTORY: that of its machine."
  (let ((host (or (file-remote-p directory 'host) "")))
    (string-trim (replace-regexp-in-string "[^A-Za-z0-9._-]+" "-" host) "[^A-Za-z0-9]+")))

(defun hive-token--url ()
  "Return the address of `hive-serve' as a container without a network sees it."
  (format "http://127.0.0.1:%s"
          (cond ((integerp hive-serve) hive-serve)
                ((and hive-serve (string-match ":\\([0-9]+\\)\\'" hive-serve))
                 (match-string 1 hive-serve))
                (t 7373))))

(defun hive-token--word (text)
  "Return TEXT as a word of the shell, as it is if it needs no quotes."
  (if (string-match-p "\\`[-[:alnum:]_./:@~]+\\'" text) text (shell-quote-argument text)))

(defun hive-token--show (name file url)
  "Show how agents use the token NAME in FILE at URL."
  (let ((command (format "hive mcp --url %s --token-file %s" (hive-token--word url)
                         (hive-token--word (file-local-name file)))))
    (pop-to-buffer
     (hive-text-buffer
      "*hive token*"
      (lambda ()
        (insert (hive-words "The token %s is in %s.

Register Hive with an agent there, where the command hive must be installed:

  claude mcp add --scope user hive -- %s
  codex mcp add hive -- %s

From there, %s must lead to hive serve, or to an Emacs with hive-serve set.
Its agents ask as token:%s.  To revoke the token:

  hive token revoke %s" name file command command url name name) "\n"))))))

;;;; Command

;;;###autoload
(defun hive-token-for-directory (directory name url)
  "Let agents on the machine or in the container of DIRECTORY ask you here.
DIRECTORY is one that TRAMP reaches.  Make a token called NAME, write it
into ~/.config/hive/token there, and show how to register Hive with the
agents.  URL is the address of `hive-serve' or of the command hive serve
as it is seen from there.  If there is a token called NAME already, make
a new secret for it; the old one stops working."
  (interactive
   (let ((directory (read-directory-name
                     (hive-words "Let agents ask from (a TRAMP directory): ") nil nil t)))
     (unless (file-remote-p directory) (hive-fail 'token-local directory))
     (list directory
           (read-string (hive-words "Name of the token: ") (hive-token--name directory))
           (read-string
            (hive-words "Address of hive serve, as seen from there: ") (hive-token--url)))))
  (unless (file-remote-p directory) (hive-fail 'token-local directory))
  (let ((file (hive-token--file directory)))
    (hive-token--install name file)
    (hive-token--show name file url)
    (hive-say "Token %s is in %s; the buffer *hive token* shows what to run there" name file)))

(provide 'hive-token)
;;; hive-token.el ends here
