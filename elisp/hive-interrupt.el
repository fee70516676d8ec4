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
(require 'hive-messages)
(require 'hive-model)
(require 'hive-notify)
(require 'hive-read)
(require 'hive-respond)
(require 'hive-rpc)
(require 'hive-text)
(require 'subr-x)

;;;; What runs now

;; The turns that run, one a session, as the sidecar tells them: so that an
;; agent can be interrupted at once, without asking anybody first.

(defvar hive-interrupt--running (make-hash-table :test #'equal)
  "The turns that run, by the ids of their sessions.")

(defvar hive-turns-changed-functions nil
  "Called with each turn that something happened to.")

(defconst hive-interrupt--most 1000 "How many turns are known at most.")

(defun hive-turns-running ()
  "Return what is running, a turn each, the longest first."
  (let (turns)
    (maphash (lambda (_ turn) (push turn turns)) hive-interrupt--running)
    (sort turns (lambda (a b) (string< (or (plist-get a :started_at) "")
                                       (or (plist-get b :started_at) ""))))))

(defun hive-turns-doing (turn)
  "Return what TURN is doing, and for how long, in a few words."
  (let ((tool (plist-get turn :tool)))
    (if tool
        (hive-words 'doing (hive-text-line tool 40) (hive-text-age (plist-get turn :tool_since)))
      (hive-words 'running (hive-text-age (plist-get turn :started_at))))))

(defun hive-interrupt--take (turn)
  "Remember TURN until its end, and tell of it."
  (let ((session (plist-get turn :session_id)))
    (cond ((equal (plist-get turn :state) "in_progress")
           (when (or (gethash session hive-interrupt--running)
                     (< (hash-table-count hive-interrupt--running) hive-interrupt--most))
             (puthash session turn hive-interrupt--running)))
          ;; The end of a turn may be told after another has begun.
          ((equal (plist-get turn :turn_id)
                  (plist-get (gethash session hive-interrupt--running) :turn_id))
           (remhash session hive-interrupt--running)))
    (run-hook-with-args 'hive-turns-changed-functions turn)))

(cl-defmethod hive-rpc-notify ((_method (eql 'turn/changed)) turn)
  "Take TURN, with which something happened."
  (hive-interrupt--take turn))

(defun hive-interrupt--listed (sessions)
  "Take who is at work from SESSIONS, which the sidecar listed anew.
Where it left some out, they were silent for longer than these."
  (clrhash hive-interrupt--running)
  (dolist (session sessions)
    (let ((turn (plist-get session :turn)))
      (when turn
        (hive-interrupt--take (append turn (list :agent (plist-get session :handle)
                                             :project (plist-get session :project))))))))

(defun hive-interrupt--sidecar ()
  "Forget everything when Hive is turned off."
  (when (eq hive-sidecar-state 'off) (clrhash hive-interrupt--running)))

(add-hook 'hive-handles-listed-functions #'hive-interrupt--listed)
(add-hook 'hive-sidecar-state-hook #'hive-interrupt--sidecar)

;;;; The terminal of an agent in this Emacs

;; An agent that runs in a terminal of this Emacs (vterm, eat, term, shell)
;; has a process that descends from one of Emacs' own.  That leads from a
;; session to its buffer, whatever the terminal's package is.

(defun hive-interrupt--ancestors (pid)
  "Return PID and the ids of the processes it descends from, nearest first."
  (let (chain)
    (while (and (integerp pid) (> pid 1) (not (memq pid chain)) (< (length chain) 50))
      (push pid chain)
      (setq pid (alist-get 'ppid (process-attributes pid))))
    (nreverse chain)))

(defun hive-terminal-buffer (pid)
  "Return the buffer of this Emacs for the process PID, or nil."
  (let ((ours (cl-loop for process in (process-list)
                       when (and (process-id process) (buffer-live-p (process-buffer process)))
                       collect (cons (process-id process) (process-buffer process)))))
    (cl-loop for ancestor in (hive-interrupt--ancestors pid)
             thereis (alist-get ancestor ours))))

(defun hive-terminal-visit (session-id name)
  "Go to the buffer of SESSION-ID; NAME is what people call it."
  (let ((from (selected-window)) (name (hive-text-line name 40)))
    (hive-rpc-request
     'session/list (list :state "alive" :limit 500)
     :success
     (lambda (result)
       (let* ((session (cl-find session-id (append (plist-get result :sessions) nil)
                                :test #'equal
                                :key (lambda (session) (plist-get session :session_id))))
              (buffer (and session (hive-terminal-buffer (plist-get session :pid)))))
         (cond ((null session) (hive-announce 'terminal-gone name))
               ((null buffer) (hive-announce 'terminal-elsewhere name))
               ;; Who went on meanwhile is shown the buffer and stays where they are.
               ((and (eq from (selected-window)) (not (hive-notify-busy-p)))
                (pop-to-buffer buffer))
               (t (display-buffer buffer)))))
     :error (lambda (err)
              (hive-announce 'terminal-failed name (hive-text-line (plist-get err :text) 200))))))

;;;; Stopping an agent, and hearing that it stopped

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
      (hive-announce 'interrupt-result (hive-text-line agent 40) (hive-text-line sentence 200)))))

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
                      (hive-announce 'interrupt-result (hive-text-line agent 40)
                                     (hive-text-line (plist-get outcome :sentence) 200)))
                  (hive-interrupt--settle id (plist-get outcome :sentence))))
     :error (lambda (err)
              ;; A sidecar that went away took the request down before: what
              ;; comes of it is told once another is there.
              (unless (memq (plist-get err :name) '(disconnected timeout))
                (hive-interrupt--settle
                 id (hive-words 'interrupt-failed (plist-get err :text))))))
    (hive-say 'interrupt-sent (hive-text-line agent 40))))

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
                               (if (hive-interrupt--pending turn) (hive-words 'asked-to-stop) ""))
                       'face 'completions-annotations))))
            lines)))

(defun hive-interrupt--read (prompt among none)
  "Let the human choose a turn AMONG some and return it.
PROMPT and NONE are names in `hive-messages': what to ask, and the
error when there are none."
  (hive-sidecar-demand)
  (let ((alist (mapcar (lambda (turn) (cons (hive-text-line (plist-get turn :agent) 60) turn))
                       among)))
    (unless alist (hive-fail none))
    (cdr (assoc (completing-read
                 (format-prompt (hive-words prompt) (caar alist))
                 (hive-read-table (mapcar #'car alist) 'hive-turn (hive-interrupt--affix alist))
                 nil t nil nil (caar alist))
                alist))))

;;;###autoload
(defun hive-interrupt (turn note)
  "Ask the agent of TURN to stop, with a NOTE for it.
Shown are all that run, with what they are doing and for how long.
You are told when it has stopped, or that it was done before."
  (interactive
   (let ((turn (hive-interrupt--read 'which-interrupt (hive-turns-running) 'interrupt-none)))
     (list turn (read-string (hive-words 'interrupt-why
                                         (hive-text-line (plist-get turn :agent) 40))))))
  (hive-interrupt-session (plist-get turn :session_id) (plist-get turn :agent) note))

;;;; Asking all

(defun hive-interrupt--summary (outcomes)
  "Return in one line what OUTCOMES, one an agent, say."
  (let ((rest (cl-remove "aborted" outcomes :test #'equal
                         :key (lambda (one) (plist-get one :outcome)))))
    (hive-words 'interrupt-all-result
                (- (length outcomes) (length rest)) (length outcomes)
                (mapconcat (lambda (one)
                             (concat "; "
                                     (hive-words 'interrupt-result
                                                 (hive-text-line (plist-get one :handle) 40)
                                                 (hive-text-line (plist-get one :sentence) 100))))
                           rest ""))))

(defun hive-interrupt--all-question ()
  "Return what is asked before all are interrupted; fail when there is nobody."
  (let ((turns (hive-turns-running)))
    (pcase (length turns)
      (0 (hive-fail 'interrupt-none))
      (1 (hive-words 'interrupt-one? (hive-text-line (plist-get (car turns) :agent) 40)))
      (count (hive-words 'interrupt-all? count)))))

;;;###autoload
(defun hive-interrupt-all (&optional note)
  "Ask every agent that is at work to stop.
Asked once whether you mean it; with a prefix argument, they read
a NOTE of yours.  One line says what became of each."
  (interactive (list (when current-prefix-arg (read-string (hive-words 'interrupt-all-why)))))
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
              (hive-announce 'interrupt-all-failed (hive-text-line (plist-get err :text) 200))))
    (hive-say 'interrupt-all-sent)))

;;;; Taking it back

;;;###autoload
(defun hive-interrupt-withdraw (turn)
  "Take back the request that the agent of TURN stop.
Offered are those that were asked and have not stopped yet."
  (interactive
   (list (hive-interrupt--read 'which-withdraw
                               (cl-remove-if-not #'hive-interrupt--pending (hive-turns-running))
                               'interrupt-none-asked)))
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
                    (hive-announce 'interrupt-nothing-to-withdraw agent)
                  (hive-announce 'interrupt-withdrawn agent)))
     :error (lambda (err)
              (funcall mark (plist-get turn :agent))
              (hive-announce 'interrupt-withdraw-failed (hive-text-line (plist-get err :text) 200))))))

(provide 'hive-interrupt)
;;; hive-interrupt.el ends here
