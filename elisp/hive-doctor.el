;;; hive-doctor.el --- What is wrong with Hive, and what to do  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; One line a check, in a buffer, each failing one with what to do.  Nothing
;; waits: what others have to say is filled in when it comes.

;;; Code:

(require 'cl-lib)
(require 'hive-messages)
(require 'hive-outbox)
(require 'hive-respond)
(require 'hive-rpc)
(require 'hive-text)

(cl-defstruct (hive-doctor-check (:constructor hive-doctor-check) (:copier nil))
  "One line: NAME was looked at, OK or not, TEXT says what, ADVICE what to do."
  name ok text advice)

;;;; Checks of this side

(defun hive-doctor--emacs ()
  "Check the version of Emacs."
  (hive-doctor-check :name "Emacs" :ok (version<= "28.1" emacs-version)
                     :text emacs-version :advice (hive-words 'doctor-emacs-old)))

(defun hive-doctor--program ()
  "Check that the sidecar's program is there."
  (condition-case oops
      (hive-doctor-check :name "Program" :ok t
                         :text (string-join (hive-program-command) " "))
    (hive-program-missing
     (hive-doctor-check :name "Program" :ok nil :text (cadr oops)
                        :advice (hive-words 'doctor-then-restart)))))

(defun hive-doctor--sidecar ()
  "Check the handshake."
  (let ((server (plist-get hive-sidecar-info :server)))
    (if (hive-sidecar-connected-p)
        (hive-doctor-check
         :name "Sidecar" :ok t
         :text (format "%s %s, protocol %s"
                       (plist-get server :name) (plist-get server :version)
                       (plist-get hive-sidecar-info :protocol_version)))
      (hive-doctor-check
       :name "Sidecar" :ok nil
       :text (format "%s%s" hive-sidecar-state
                     (if hive-sidecar-problem (concat ": " hive-sidecar-problem) ""))
       :advice (if (eq hive-sidecar-state 'off) (hive-words 'doctor-turn-on)
                 (hive-words 'doctor-see-log))))))

(defun hive-doctor--store ()
  "Tell which store is in use."
  (let ((store (plist-get hive-sidecar-info :store_id)))
    (hive-doctor-check :name "Store" :ok (and store t)
                       :text (or store (hive-words 'doctor-store-unknown))
                       :advice (hive-words 'doctor-store-later))))

(defun hive-doctor--outbox ()
  "Check what is on its way."
  (let* ((pending (hive-outbox-entries 'pending))
         (rejected (hive-outbox-entries 'rejected))
         (elsewhere (cl-remove-if #'hive-outbox-sendable-p pending)))
    (cons
     (hive-doctor-check
      :name "Outbox" :ok (not (or rejected elsewhere))
      :text (hive-words 'doctor-outbox (length pending) (length rejected)
                        (abbreviate-file-name hive-outbox-directory))
      :advice (cond (rejected (hive-words 'doctor-forget-rejected))
                    (elsewhere (hive-words 'doctor-other-store (length elsewhere)))))
     (mapcar (lambda (entry)
               (hive-doctor-check
                :name "Rejected" :ok nil
                :text (format "%s: %S" (or (hive-entry-ask-id entry) "message")
                              (or (plist-get (hive-entry-params entry) :body)
                                  (hive-respond-text (hive-entry-params entry))))
                :advice (hive-entry-text entry)))
             rejected))))

;;;; Showing

(defvar-local hive-doctor--remote nil "Checks that others made, in order.")

(defun hive-doctor--insert (check)
  "Insert CHECK as a line, with its advice below when it failed."
  (let ((ok (hive-doctor-check-ok check)))
    (insert (propertize (if ok "  ok  " "FAIL  ") 'face (if ok 'success 'error))
            (format "%-14s " (hive-text-line (hive-doctor-check-name check) 40))
            (hive-text-line (hive-doctor-check-text check) 400) "\n")
    (when (and (not ok) (hive-doctor-check-advice check))
      (insert "        → " (hive-text-line (hive-doctor-check-advice check) 600) "\n"))))

(defun hive-doctor--print (buffer)
  "Print every line into BUFFER."
  (when (buffer-live-p buffer)
    (with-current-buffer buffer
      (let ((inhibit-read-only t) (place (point)))
        (erase-buffer)
        (insert (hive-words 'doctor-title) "\n\n")
        (mapc #'hive-doctor--insert
              (append (list (hive-doctor--emacs) (hive-doctor--program)
                            (hive-doctor--sidecar) (hive-doctor--store))
                      (hive-doctor--outbox)
                      hive-doctor--remote))
        (insert "\n" (hive-words 'doctor-again) "\n")
        (goto-char (min place (point-max)))))))

(defun hive-doctor--add (buffer lines)
  "Add LINES, looked at elsewhere, to BUFFER."
  (when (buffer-live-p buffer)
    (with-current-buffer buffer
      (setq hive-doctor--remote (append hive-doctor--remote lines)))
    (hive-doctor--print buffer)))

;;;; Checks of others

(defun hive-doctor--node-p (said)
  "Return non-nil if SAID, by \"node --version\", is a Node.js that will do."
  (and (string-match "\\`v\\([0-9]+\\.[0-9]+\\.[0-9]+\\)" said)
       (version<= hive-program-node-version (match-string 1 said))))

(defun hive-doctor--ask-node (buffer)
  "Ask node for its version; the answer appears in BUFFER."
  (let ((node (executable-find (or hive-node-program "node")))
        (advice (hive-words 'doctor-node-old hive-program-node-version)))
    (if (not node)
        (hive-doctor--add buffer (list (hive-doctor-check
                                        :name "Node.js" :ok nil :text (hive-words 'doctor-node-missing)
                                        :advice advice)))
      (let ((default-directory "/") (said ""))
        (make-process
         :name "hive-node" :command (list node "--version") :noquery t
         :connection-type 'pipe
         :filter (lambda (_process text) (setq said (concat said text)))
         :sentinel
         (lambda (process _change)
           (unless (process-live-p process)
             (hive-work-later
              #'hive-doctor--add buffer
              (list (hive-doctor-check
                     :name "Node.js"
                     :ok (hive-doctor--node-p said)
                     :text (format "%s, %s" (string-trim said) node)
                     :advice advice))))))))))

(defun hive-doctor--ask-sidecar (buffer)
  "Ask the sidecar how it is itself; the lines appear in BUFFER."
  (when (hive-sidecar-connected-p)
    (hive-rpc-request
     'doctor/run nil :timeout 30
     :success
     (lambda (result)
       (hive-doctor--add
        buffer
        (mapcar (lambda (check)
                  (hive-doctor-check :name (plist-get check :name)
                                     :ok (hive-rpc-true-p check :ok)
                                     :text (plist-get check :text)
                                     :advice (plist-get check :advice)))
                (plist-get result :checks))))
     :error
     (lambda (err)
       (unless (hive-rpc-failed-p err 'method-not-found) ; it has no doctor
         (hive-doctor--add
          buffer (list (hive-doctor-check :name "Sidecar's own" :ok nil
                                          :text (plist-get err :text)))))))))

(define-derived-mode hive-doctor-mode special-mode "Hive-Doctor"
  "Major mode of the buffer in which Hive tells how it is."
  (setq-local revert-buffer-function (lambda (&rest _) (hive-doctor))))

;;;###autoload
(defun hive-doctor ()
  "Look at everything Hive needs, and say what to do about what fails."
  (interactive)
  (let ((buffer (get-buffer-create "*hive doctor*")))
    (with-current-buffer buffer
      (hive-doctor-mode)
      (setq hive-doctor--remote nil))
    (hive-doctor--print buffer)
    (pop-to-buffer buffer)
    (hive-doctor--ask-node buffer)
    (hive-doctor--ask-sidecar buffer)))

(provide 'hive-doctor)
;;; hive-doctor.el ends here
