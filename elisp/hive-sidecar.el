;;; hive-sidecar.el --- Starting and keeping the Hive sidecar  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; The handshake with the sidecar, and what happens when it ends: a restart after 1, 2, 4 … 60 seconds.  What only a person can
;; mend (a missing program, one that is too old) stops the restarts and is
;; said in one sentence with what to do.

;;; Code:

(require 'cl-lib)
(require 'hive-human)
(require 'hive-pipe)
(require 'hive-program)
(require 'hive-rpc)
(require 'hive-text)
(require 'hive-work)
(require 'subr-x)

(defvar hive-connected-hook nil
  "Run when the sidecar has answered the handshake.")

(defvar hive-sidecar-state-hook nil
  "Run when `hive-sidecar-state' or `hive-sidecar-problem' changed.")

(defvar hive-sidecar-state 'off
  "What the sidecar does: off, starting, connected, waiting or failed.
`waiting' for the next start; `failed' until a person acts.")

(defvar hive-sidecar-problem nil
  "A sentence that says what is wrong with the sidecar, or nil.")

(defvar hive-sidecar-info nil
  "What the sidecar said of itself: the result of the handshake.
It is kept while the sidecar is away: answers typed meanwhile are
meant for the same :store_id.")

(defconst hive-sidecar-protocol 1 "The protocol version that we speak.")

(defvar hive-sidecar--process nil "The connection in use, ready or not.")
(defvar hive-sidecar--timer nil "The timer of the next start, or nil.")
(defvar hive-sidecar--delay 1 "Seconds until the next start.")
(defvar hive-sidecar--born nil "When the handshake was completed.")

;;;; State

(defun hive-sidecar--become (state &optional problem)
  "Enter STATE; PROBLEM is the sentence to show, or nil."
  (setq hive-sidecar-state state
        hive-sidecar-problem problem)
  (when problem (hive-work-log "%s: %s" state problem))
  (run-hooks 'hive-sidecar-state-hook))

(defun hive-sidecar-connected-p ()
  "Return non-nil when requests can be sent."
  (eq hive-sidecar-state 'connected))

(defun hive-sidecar-absence ()
  "Return a sentence on why nothing can be asked of the sidecar, or nil.
It tells what to do."
  (cond ((hive-sidecar-connected-p) nil)
        ((eq hive-sidecar-state 'off) "Hive is off: turn it on with M-x hive-mode")
        (hive-sidecar-problem
         (format "Hive is not connected: %s  (M-x hive-doctor says why)" hive-sidecar-problem))
        (t "Hive is not connected yet: M-x hive-doctor says why")))

(defun hive-sidecar-demand ()
  "Fail, telling in a sentence what to do, unless the sidecar is there.
For commands that would otherwise claim that there is nothing."
  (let ((absence (hive-sidecar-absence)))
    (when absence (user-error "%s" absence))))

;;;; Start and handshake

(defun hive-sidecar-start ()
  "Start the sidecar unless it is there; return at once."
  (when hive-sidecar--timer
    (cancel-timer hive-sidecar--timer)
    (setq hive-sidecar--timer nil))
  (unless (hive-pipe-live-p hive-sidecar--process)
    (condition-case oops
        (let ((command (hive-program-sidecar)))
          (hive-work-log "starting %S" command)
          (setq hive-sidecar--process
                (hive-rpc-open command (hive-program-environment)
                               #'hive-sidecar--ended))
          (hive-sidecar--become 'starting)
          (hive-sidecar--greet hive-sidecar--process))
      (hive-program-missing
       (hive-sidecar--become 'failed (hive-sidecar--sentence (cadr oops))))
      (error
       (hive-sidecar--retry (error-message-string oops))))))

(defun hive-sidecar--sentence (text)
  "Return TEXT, inert, as a sentence that begins with a capital letter."
  (let ((line (string-remove-prefix "hive: " (hive-text-line text 300))))
    (if (string-empty-p line) line
      (concat (upcase (substring line 0 1)) (substring line 1)))))

(defun hive-sidecar--greet (conn)
  "Do the handshake with the sidecar behind CONN."
  (hive-rpc-request
   'initialize (list :protocol_version hive-sidecar-protocol
                     :client (list :name "emacs" :version emacs-version)
                     :human (hive-human-name))
   :conn conn :timeout 20
   :success (lambda (info)
              (when (eq conn hive-sidecar--process)
                (hive-sidecar--greeted conn info)))
   :error (lambda (err)
            (when (eq conn hive-sidecar--process)
              (hive-sidecar--refused conn err)))))

(defun hive-sidecar--greeted (conn info)
  "Accept CONN, whose sidecar answered the handshake with INFO, or not."
  (let* ((theirs (plist-get info :protocol_version))
         (problem (hive-sidecar--mismatch theirs)))
    (if problem
        (hive-sidecar--fail conn problem)
      (setq hive-sidecar-info info
            hive-human-names (append (plist-get info :names) nil)
            hive-sidecar--born (float-time)
            hive-rpc-connection conn)
      (hive-rpc-tell 'initialized nil)
      (hive-sidecar--become 'connected)
      (run-hooks 'hive-connected-hook))))

(defun hive-sidecar--mismatch (theirs)
  "Return a sentence when the sidecar's protocol THEIRS is not ours."
  (cond ((not (integerp theirs))
         "The sidecar did not name its protocol: is `hive-sidecar-command' right?")
        ((< theirs hive-sidecar-protocol)
         (concat "The Hive sidecar is older than hive-mode; update it with: "
                 "npm install -g hive-sidecar@latest, then M-x hive-restart"))
        ((> theirs hive-sidecar-protocol)
         (concat "Your hive-mode is older than the Hive sidecar; "
                 "update the package hive-mode, then M-x hive-restart"))))

(defun hive-sidecar--refused (conn err)
  "Deal with the error ERR that CONN's handshake brought."
  (pcase (plist-get err :name)
    ('disconnected)                     ; `hive-sidecar--ended' deals with it
    ((or 'timeout 'store_busy 'store_unavailable 'store_full)
     (hive-sidecar--drop conn)
     (hive-sidecar--retry (plist-get err :text)))
    (_ (hive-sidecar--fail conn (plist-get err :text)))))

(defun hive-sidecar--drop (conn)
  "Be done with CONN: what it still does concerns nobody."
  (when (eq conn hive-sidecar--process)
    (setq hive-sidecar--process nil))
  (when (eq conn hive-rpc-connection)
    (setq hive-rpc-connection nil))
  (hive-rpc-close conn))

(defun hive-sidecar--fail (conn problem)
  "Give CONN up until a person has mended PROBLEM."
  (hive-sidecar--drop conn)
  (hive-sidecar--become 'failed (hive-sidecar--sentence problem)))

;;;; When it ends

(defun hive-sidecar--ended (conn)
  "Note that CONN's process has ended, and plan the next start."
  (when (eq conn hive-sidecar--process)
    (let ((status (hive-pipe-exit-status conn))
          (words (hive-sidecar--last-words conn))
          (greeted (eq conn hive-rpc-connection)))
      (setq hive-sidecar--process nil
            hive-rpc-connection nil)
      (when (and greeted (> (- (float-time) hive-sidecar--born) 60))
        (setq hive-sidecar--delay 1))
      (cond
       (greeted (hive-sidecar--retry (or words "the sidecar ended")))
       ((and (memq status '(126 127)) (not hive-node-program))
        (hive-sidecar--become
         'failed
         (format (concat "Node.js was not found by the program `hive'; install Node.js %s or newer,"
                         " or set `hive-node-program', then M-x hive-restart")
                 hive-program-node-version)))
       ((and words (string-match-p "\\bNode\\(?:\\.js\\)?\\b.*[0-9]" words))
        (hive-sidecar--become
         'failed (format "%s (or set `hive-node-program', then M-x hive-restart)"
                         (hive-sidecar--sentence words))))
       (t (hive-sidecar--retry
           (or words (format "the sidecar ended with status %s" status))))))))

(defun hive-sidecar--last-words (conn)
  "Return the most telling line of CONN's standard error, or nil."
  (let ((lines (hive-pipe-last-words conn)))
    (or (cl-find-if (lambda (line) (string-match-p "\\`hive\\|\\bNode\\b" line)) lines)
        (car (last lines)))))

(defun hive-sidecar--retry (problem)
  "Start again after a while, because of PROBLEM."
  (let ((delay hive-sidecar--delay))
    (setq hive-sidecar--delay (min 60 (* 2 delay))
          hive-sidecar--timer (run-at-time delay nil #'hive-sidecar-start))
    (hive-sidecar--become 'waiting
                          (format "%s; next start in %s s"
                                  (hive-sidecar--sentence problem) delay))))

;;;; Stop

(defun hive-sidecar-stop ()
  "Stop the sidecar, and any plan to start it."
  (when hive-sidecar--timer
    (cancel-timer hive-sidecar--timer)
    (setq hive-sidecar--timer nil))
  (when hive-sidecar--process
    (hive-sidecar--drop hive-sidecar--process))
  (setq hive-sidecar--delay 1)
  (hive-sidecar--become 'off))

(defun hive-sidecar-goodbye ()
  "Send the sidecar `exit'; for `kill-emacs-hook', which must not wait."
  (hive-rpc-tell 'exit nil :conn hive-sidecar--process))

;;;###autoload
(defun hive-restart ()
  "Stop the Hive sidecar and start it anew.
Use it after you mended what Hive complained about: installed or
updated the program, or changed `hive-sidecar-command',
`hive-node-program' or `hive-store'."
  (interactive)
  (hive-sidecar-stop)
  (hive-sidecar-start)
  (when (eq hive-sidecar-state 'failed)
    (message "Hive: %s" hive-sidecar-problem)))

(provide 'hive-sidecar)
;;; hive-sidecar.el ends here
