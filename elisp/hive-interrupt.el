;;; hive-interrupt.el --- Stopping an agent, and hearing that it stopped  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; `hive-interrupt' asks an agent to stop what it does.  The request is in the
;; store before anything else happens, and stays in force until the turn has
;; ended; what it came to is said whenever it is known, even when the
;; sidecar was started anew meanwhile.  Emacs waits for nothing.

;;; Code:

(require 'cl-lib)
(require 'hive-notify)
(require 'hive-read)
(require 'hive-respond)
(require 'hive-rpc)
(require 'hive-sidecar)
(require 'hive-text)
(require 'hive-turns)
(require 'subr-x)

(defcustom hive-interrupt-seconds 60
  "After how many seconds you are told that an agent has not stopped yet.
The request stays in force all the same."
  :type 'natnum
  :group 'hive)

(defvar hive-interrupt--asked (make-hash-table :test #'equal)
  "Names of the agents that were asked to stop, by the ids of the requests.
Once it was said what came of a request, t.")

;;;; What came of it

(defun hive-interrupt--settle (id sentence)
  "Say SENTENCE, the end of the request ID, unless it was said before."
  (let ((agent (gethash id hive-interrupt--asked)))
    (when (stringp agent)
      (puthash id t hive-interrupt--asked)
      (hive-notify-say "%s: %s" (hive-text-line agent 40) (hive-text-line sentence 200)))))

(defun hive-interrupt--turn (turn)
  "Say what came of requests for TURN.
This is told before the request itself is answered, and even when
the sidecar was started anew meanwhile."
  (cl-loop for request across (vconcat (plist-get turn :interrupts))
           for id = (plist-get request :interrupt_id)
           for state = (plist-get request :state)
           do (cond
               ((equal state "pending")
                ;; Asked by this human before Emacs was started anew.
                (when (and (equal (plist-get request :by) (hive-human-name))
                           (equal (plist-get request :via) "emacs")
                           (not (gethash id hive-interrupt--asked)))
                  (puthash id (plist-get turn :agent) hive-interrupt--asked)))
               (t (hive-interrupt--settle id (plist-get request :sentence))))))

(add-hook 'hive-turns-changed-functions #'hive-interrupt--turn)

;;;; Asking one

(defun hive-interrupt-session (session-id agent &optional note)
  "Ask the session SESSION-ID, called AGENT, to stop, with a NOTE.
What came of it is said when it is known."
  (hive-sidecar-demand)
  (let ((id (concat "int-" (hive-rpc-new-id))))
    (puthash id agent hive-interrupt--asked)
    (hive-rpc-request
     'turn/interrupt
     `( :session_id ,session-id :interrupt_id ,id
        :timeout_ms ,(* 1000 hive-interrupt-seconds)
        :by ,(hive-human-name)
        ,@(unless (string-blank-p (or note "")) (list :note (hive-text-sendable note))))
     :timeout (+ 30 hive-interrupt-seconds)
     :success (lambda (outcome)
                (if (equal (plist-get outcome :outcome) "unconfirmed")
                    (when (stringp (gethash id hive-interrupt--asked))
                      (hive-notify-say "%s: %s" (hive-text-line agent 40)
                                       (hive-text-line (plist-get outcome :sentence) 200)))
                  (hive-interrupt--settle id (plist-get outcome :sentence))))
     :error (lambda (err)
              ;; A sidecar that went away took the request down before: what
              ;; comes of it is told once another is there.
              (unless (memq (plist-get err :name) '(disconnected timeout))
                (hive-interrupt--settle
                 id (concat "not interrupted: " (plist-get err :text))))))
    (message "%s was asked to stop…" (hive-text-line agent 40))))

(defun hive-interrupt--pending (turn)
  "Return the ids of the requests to stop TURN that still stand."
  (cl-loop for request across (vconcat (plist-get turn :interrupts))
           when (equal (plist-get request :state) "pending")
           collect (plist-get request :interrupt_id)))

(defun hive-interrupt--affix (alist)
  "Return an affixation function for ALIST, a name and a turn each."
  (lambda (lines)
    (mapcar (lambda (line)
              (let ((turn (cdr (assoc line alist))))
                (list line ""
                      (propertize
                       (concat "  " (hive-turns-doing turn)
                               "  " (hive-text-line (plist-get turn :project) 24)
                               (if (hive-interrupt--pending turn) "  asked to stop" ""))
                       'face 'completions-annotations))))
            lines)))

(defconst hive-interrupt--nobody "No agent is at work, as far as Hive knows"
  "What is said when there is nobody to interrupt.")

(defun hive-interrupt--read (prompt among none)
  "Let the human choose a turn AMONG some, asked by PROMPT, and return it.
NONE is said when there are none."
  (hive-sidecar-demand)
  (let ((alist (mapcar (lambda (turn) (cons (hive-text-line (plist-get turn :agent) 60) turn))
                       among)))
    (unless alist (user-error "%s" none))
    (cdr (assoc (completing-read
                 (format-prompt prompt (caar alist))
                 (hive-read-table (mapcar #'car alist) 'hive-turn (hive-interrupt--affix alist))
                 nil t nil nil (caar alist))
                alist))))

;;;###autoload
(defun hive-interrupt (turn note)
  "Ask the agent of TURN to stop, with a NOTE for it.
Shown are all that run, with what they are doing and for how long.
You are told when it has stopped, or that it was done before."
  (interactive
   (let ((turn (hive-interrupt--read "Interrupt" (hive-turns-running) hive-interrupt--nobody)))
     (list turn (read-string (format "Tell %s why (RET for nothing): "
                                     (hive-text-line (plist-get turn :agent) 40))))))
  (hive-interrupt-session (plist-get turn :session_id) (plist-get turn :agent) note))

;;;; Asking all

(defun hive-interrupt--summary (outcomes)
  "Return in one line what OUTCOMES, one an agent, say."
  (let ((rest (cl-remove "aborted" outcomes :test #'equal
                         :key (lambda (one) (plist-get one :outcome)))))
    (concat (format "%d of %d stopped" (- (length outcomes) (length rest)) (length outcomes))
            (mapconcat (lambda (one)
                         (format "; %s: %s" (hive-text-line (plist-get one :handle) 40)
                                 (hive-text-line (plist-get one :sentence) 100)))
                       rest ""))))

(defun hive-interrupt--all-question ()
  "Return what is asked before all are interrupted; fail when there is nobody."
  (let ((turns (hive-turns-running)))
    (pcase (length turns)
      (0 (user-error "%s" hive-interrupt--nobody))
      (1 (format "Interrupt the 1 agent at work (%s)? "
                 (hive-text-line (plist-get (car turns) :agent) 40)))
      (count (format "Interrupt all %d agents at work? " count)))))

;;;###autoload
(defun hive-interrupt-all (&optional note)
  "Ask every agent that is at work to stop.
Asked once whether you mean it; with a prefix argument, they read
a NOTE of yours.  One line says what became of each."
  (interactive (list (when current-prefix-arg (read-string "Tell them why: "))))
  (hive-sidecar-demand)
  (when (y-or-n-p (hive-interrupt--all-question))
    (hive-rpc-request
     'turn/interrupt_all
     `( :timeout_ms ,(* 1000 hive-interrupt-seconds) :by ,(hive-human-name)
        ,@(unless (string-blank-p (or note "")) (list :note (hive-text-sendable note))))
     :timeout (+ 30 hive-interrupt-seconds)
     :success (lambda (result)
                (hive-notify-say "%s" (hive-interrupt--summary
                                       (append (plist-get result :outcomes) nil))))
     :error (lambda (err)
              (hive-notify-say "Not all were interrupted: %s"
                               (hive-text-line (plist-get err :text) 200))))
    (message "All agents at work were asked to stop…")))

;;;; Taking it back

;;;###autoload
(defun hive-interrupt-withdraw (turn)
  "Take back the request that the agent of TURN stop.
Offered are those that were asked and have not stopped yet."
  (interactive
   (list (hive-interrupt--read "Take back the stop of"
                               (cl-remove-if-not #'hive-interrupt--pending (hive-turns-running))
                               "No agent at work was asked to stop")))
  (hive-sidecar-demand)
  (let* ((agent (hive-text-line (plist-get turn :agent) 40))
         ;; What comes of these is said here, once.
         (mine (cl-remove-if-not (lambda (id) (stringp (gethash id hive-interrupt--asked)))
                                 (hive-interrupt--pending turn)))
         (mark (lambda (value) (dolist (id mine) (puthash id value hive-interrupt--asked)))))
    (funcall mark t)
    (hive-rpc-request
     'turn/cancel_interrupt (list :session_id (plist-get turn :session_id)
                                  :by (hive-human-name))
     :success (lambda (result)
                (if (seq-empty-p (plist-get result :withdrawn))
                    (hive-notify-say "Nothing to take back: nobody's request that %s stop stands any more"
                                     agent)
                  (hive-notify-say "Taken back: %s is no longer asked to stop" agent)))
     :error (lambda (err)
              (funcall mark (plist-get turn :agent))
              (hive-notify-say "Hive could not take that back: %s"
                               (hive-text-line (plist-get err :text) 200))))))

(provide 'hive-interrupt)
;;; hive-interrupt.el ends here
