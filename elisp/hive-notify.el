;;; hive-notify.el --- Lines in the echo area, and notices  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; An arrival may change the mode line and show a line in the echo area, and
;; nothing else (design, invariant 7).  The line waits until the human is
;; between two commands: it never covers a minibuffer, an incremental search,
;; a question or an unfinished key sequence.
;;
;; `hive-notices' lists what Hive reported.  hive-attention decides when
;; announcements are suppressed.

;;; Code:

(require 'cl-lib)
(require 'hive-messages)
(require 'hive-model)
(require 'hive-outbox)
(require 'hive-rpc)
(require 'hive-text)

;;;; Lines in the echo area

(defcustom hive-notify-echo t
  "Whether the echo area announces new questions.
The mode line counts them in any case.  Only critical ones are
announced while do-not-disturb is on, in quiet hours, and from muted
projects and agents."
  :type 'boolean
  :group 'hive)

(defvar hive-notify-suppressed-functions nil
  "Called with what an agent sent, a plist; non-nil means do not announce it.
It is counted and listed all the same.")

(defun hive-notify-suppressed-p (item)
  "Return non-nil if ITEM, a plist, must not be announced."
  (run-hook-with-args-until-success 'hive-notify-suppressed-functions item))

(defvar hive-notify--arrived nil "Questions to be announced, newest first.")
(defvar hive-notify--answered nil "Lines on answers that are stored, newest first.")
(defvar hive-notify--lines nil "Other lines to be shown, oldest first.")
(defvar hive-notify--timer nil "The timer that will show them, or nil.")

(defvar hive-notify--spoke 0 "When a line was last shown.")
(defvar hive-notify--said nil "The line that was last shown.")
(defvar hive-notify--announced nil "The questions that this line announces, if any.")

(defconst hive-notify--busy-interval 0.3
  "Seconds between two checks whether a busy human is free.")

(defconst hive-notify--breath 1
  "Seconds for which a line leaves alone what the echo area shows.
That is an earlier line, or the message of the last command.  Arrivals
of that time are announced together.")

(defconst hive-notify--several 3
  "More than so many stored answers share one line, and no more other lines wait.")

(defun hive-notify-busy-p ()
  "Return non-nil if the human is in the middle of something.
A line in the echo area would cover what they look at or type."
  (or (active-minibuffer-window)
      (bound-and-true-p isearch-mode)
      ;; A command runs: perhaps one that reads keys of its own, such as
      ;; `query-replace', `describe-key' or `quoted-insert'.
      this-command
      cursor-in-echo-area
      executing-kbd-macro
      ;; A prefix such as C-x or C-u was typed.
      prefix-arg
      (> (length (this-command-keys-vector)) 0)
      (input-pending-p)))

(defun hive-notify-when-free (function &optional seconds)
  "Call FUNCTION once the human is free, in SECONDS or later.
If that is planned already, it is called once."
  (hive-rpc-once (or seconds 0) #'hive-notify--if-free function))

(defun hive-notify--if-free (function)
  "Call FUNCTION if the human is free, or check again later."
  (if (hive-notify-busy-p) (hive-notify-when-free function hive-notify--busy-interval)
    (funcall function)))

(defun hive-notify--unread-p ()
  "Return non-nil if the last command's message is still too new to replace."
  (and (current-message)
       (not (equal (current-message) hive-notify--said))
       (< (float-time (or (current-idle-time) 0)) hive-notify--breath)))

(defun hive-notify-say (format &rest args)
  "Show a line made from FORMAT and ARGS once the human is free.
Every line that is not the result of the human's own command goes
through here."
  (setq hive-notify--lines
        (nconc hive-notify--lines (list (apply #'format format args))))
  (hive-notify--soon 0))

(defun hive-announce (sentence &rest args)
  "Show SENTENCE, filled in with ARGS as by `hive-words'.
Like `hive-notify-say', wait until the human is free."
  (declare (compiler-macro hive-messages-check))
  (hive-notify-say "%s" (apply #'hive-words sentence args)))

(defun hive-announcing (sentence &rest args)
  "Return a function that announces SENTENCE with ARGS and an error.
It is for the argument ERROR of `hive-rpc-request'; the text of the
error comes after ARGS."
  (declare (compiler-macro (lambda (form)
                             (apply #'hive-messages-check form sentence 'error args))))
  (lambda (err)
    (apply #'hive-announce sentence (append args (list (hive-text-line (plist-get err :text) 400))))))

(defun hive-notify-answered (line)
  "Show LINE, on an answer that is stored, once the human is free.
If there are many by then, say only how many."
  (push line hive-notify--answered)
  (hive-notify--soon 0))

(defun hive-notify-fill (line)
  "Return a line with as much text as fits into the frame.
LINE is a function that makes it for a text of a given width, at least 20."
  (let ((others (1- (string-width (funcall line 1)))))
    ;; The last column is left to the mark of a line that goes on.
    (funcall line (max 20 (- (frame-width) others 1)))))

(defun hive-notify--soon (delay)
  "Check in DELAY seconds whether the human is free."
  (hive-set-timer 'hive-notify--timer delay #'hive-notify--speak))

(defun hive-notify--speak ()
  "Show the next line, or check again later if the human is busy."
  (let ((breath (- (+ hive-notify--spoke hive-notify--breath) (hive-now))))
    (cond ((not (or hive-notify--arrived hive-notify--answered hive-notify--lines)))
          ((or (hive-notify-busy-p) (hive-notify--unread-p))
           ;; In hours of typing this grows no longer than what still waits.
           (setq hive-notify--arrived (hive-notify--fresh hive-notify--arrived))
           (hive-notify--soon hive-notify--busy-interval))
          ;; An earlier line must not be replaced before it can be read.
          ((> breath 0) (hive-notify--soon breath))
          (t (let* ((arrived nil)
                    (line (cond ((length> hive-notify--answered hive-notify--several)
                                 (hive-notify--answers))
                                (hive-notify--lines (hive-notify--line))
                                (hive-notify--answered (hive-notify--answers))
                                (t (setq arrived hive-notify--arrived)
                                   (prog1 (hive-notify--arrival)
                                     (setq hive-notify--arrived nil))))))
               (when line (hive-notify--utter line arrived))
               (hive-notify--soon 0))))))

(defun hive-notify--line ()
  "Return the next line; of many, *Messages* gets the oldest ones at once."
  (while (length> hive-notify--lines hive-notify--several)
    (message "%s" (pop hive-notify--lines)))
  (pop hive-notify--lines))

(defun hive-notify--answers ()
  "Return a line about the first answer that is stored, or if there are many, all."
  (let ((count (length hive-notify--answered)))
    (if (<= count hive-notify--several)
        (let ((line (car (last hive-notify--answered))))
          (setq hive-notify--answered (butlast hive-notify--answered))
          line)
      ;; *Messages* has each of them.
      (dolist (line (nreverse hive-notify--answered)) (message "%s" line))
      (setq hive-notify--answered nil)
      (hive-words "%d answers are stored" count))))

(defun hive-notify--utter (line announced)
  "Show LINE now, which announces the questions ANNOUNCED.
Another line is shown below an announcement that still holds."
  (when (and (null announced) hive-notify--announced
             (equal (current-message) hive-notify--said)
             (hive-notify--fresh hive-notify--announced))
    (setq line (concat (car (split-string hive-notify--said "\n")) "\n" line)
          announced hive-notify--announced))
  (setq hive-notify--spoke (hive-now)
        hive-notify--said line
        hive-notify--announced announced)
  (message "%s" line))

(defun hive-notify--retract ()
  "Clear an announcement that is still shown when none of its questions waits.
A line below it stays."
  (when (and hive-notify--announced
             (equal (current-message) hive-notify--said)
             (not (hive-notify--fresh hive-notify--announced)))
    (setq hive-notify--announced nil
          hive-notify--said (cadr (split-string hive-notify--said "\n")))
    (message (and hive-notify--said "%s") hive-notify--said)))

;;;; Announcing questions and problems

(defun hive-notify--announce (prompt)
  "Announce PROMPT, which is newly pending."
  (when (and hive-notify-echo (not (hive-notify-suppressed-p prompt)))
    (push prompt hive-notify--arrived)
    (unless hive-notify--timer (hive-notify--soon 0))))

(defun hive-notify--displayed-p (prompt)
  "Return non-nil if PROMPT is in a window, in a buffer of its own."
  (cl-some (lambda (window)
             (with-current-buffer (window-buffer window)
               (and (derived-mode-p 'hive-prompt-mode)
                    (equal (plist-get prompt :ask_id)
                           (plist-get (hive-prompt-at-point) :ask_id)))))
           (window-list-1 nil 'no-minibuffer 'visible)))

(defun hive-notify--fresh (questions)
  "Return the questions among QUESTIONS that are still to be announced.
Leave out those that are already settled or answered, and those that the
human has snoozed or opened in the meantime."
  (seq-filter (lambda (prompt)
                (let ((now (hive-model-prompt (plist-get prompt :ask_id))))
                  (and now (hive-prompt-unanswered-p now) (not (hive-prompt-snoozed-p now))
                       (not (hive-notify--displayed-p now)))))
              questions))

(defun hive-notify--arrival ()
  "Return a line about the questions that arrived, or nil."
  (let* ((fresh (reverse (hive-notify--fresh hive-notify--arrived)))
         (first (car (sort (copy-sequence fresh) #'hive-prompt-before-p)))
         (others (1- (length fresh))))
    (when first
      (hive-notify-fill
       (lambda (width)
         (hive-words "%s asks: %s%s%s" (hive-text-agent-in first 40)
                     (hive-text-question first width)
                     (if (> others 0) (hive-words 'and-more others) "")
                     (hive-with-keys "  \\[hive-next]")))))))

(defun hive-notify--sidecar ()
  "Report a sidecar that cannot be started."
  (when (eq hive-sidecar-state 'failed)
    (hive-announce 'from-sidecar hive-sidecar-problem)))

(defun hive-notify--rejected (entry)
  "Report that the answer in ENTRY was rejected."
  ;; Corrections, messages and batches report this themselves.
  (when (and (equal (hive-outbox-entry-method entry) "hivemind-response")
             (not (hive-outbox-entry-report entry)))
    (hive-announce "Your answer to %s could not be stored: %s  (M-x hive-doctor shows it)"
                   (hive-outbox-entry-agent entry 60)
                   (hive-text-line (hive-outbox-entry-text entry) 200))))

(add-hook 'hive-arrived-functions #'hive-notify--announce)
(add-hook 'hive-changed-hook #'hive-notify--retract)
(add-hook 'hive-sidecar-state-hook #'hive-notify--sidecar)
(add-hook 'hive-outbox-rejected-functions #'hive-notify--rejected)

(defun hive-notify-stop ()
  "Drop the lines that were not shown, as Hive is turned off."
  (hive-set-timer 'hive-notify--timer)
  (setq hive-notify--arrived nil
        hive-notify--answered nil
        hive-notify--lines nil))

;;;; Notices

;; A guard gave up, a loop was stopped, an agent ended without its report: a
;; notice is shown in one line and can be read again here.  Earlier notices
;; come from the store.  An answer that could not be stored is a notice too,
;; with everything that was sent.

(defconst hive-notify--kept 200 "How many notices are kept.")
(defconst hive-notify--name "*hive notices*" "The name of their buffer.")

(defvar hive-notify--list nil "The notices, newest first.")

(declare-function hive-loop-insert-actions "hive-mentions")

(cl-defmethod hive-rpc-handle ((_method (eql 'desk/notice)) notice)
  "Show NOTICE and keep it."
  (let ((id (plist-get notice :notice_id)))
    ;; A fetch may have found it in the store before it arrived here.
    (unless (and id (hive-find :notice_id id hive-notify--list))
      (hive-notify--keep (cons notice hive-notify--list))))
  (unless (hive-notify--said-p notice)
    (hive-announce 'from-sidecar
                   (concat (hive-text-line (plist-get notice :text) 300)
                           (if (hive-notify--loop-p notice) (hive-with-keys "  \\[hive-notices]") "")))))

(defun hive-notify--loop-p (notice)
  "Return non-nil if NOTICE is about a loop, which the human decides about."
  (equal "loop_tripped" (plist-get notice :notice)))

(defun hive-notify--said-p (notice)
  "Return non-nil if the human already knows NOTICE.
If an answer from this Emacs was rejected, its outbox has reported it."
  (and (equal "unread_answer" (plist-get notice :notice))
       (eq t (plist-get notice :sender_told))
       (equal (plist-get notice :from) (plist-get hive-sidecar-info :desk_id))))

(defun hive-notify--keep (notices)
  "Keep the newest of NOTICES, newest first."
  (when-let* ((last (nthcdr (1- hive-notify--kept) notices)))
    (setcdr last nil))
  (setq hive-notify--list notices)
  (hive-notify-refresh))

(defun hive-notify-refresh ()
  "Print the notices again, if their buffer is open."
  (hive-rpc-guarded #'hive-notify--show))

(defun hive-notify--fetch ()
  "Fetch earlier notices from the store."
  (hive-rpc-request
   'notice/list (list :limit hive-notify--kept)
   :success
   (lambda (result)
     (let* ((stored (append (plist-get result :notices) nil))
            (newest (or (plist-get (car stored) :notice_id) -1)))
       ;; Notices that arrived during the fetch are newer than it.
       (hive-notify--keep
        (append (cl-remove-if-not (lambda (notice) (> (or (plist-get notice :notice_id) -1) newest))
                                  hive-notify--list)
                stored))))
   :error (lambda (err) (hive-rpc-again err #'hive-notify--fetch))))

(add-hook 'hive-connected-hook #'hive-notify--fetch)

(defun hive-notify--show ()
  "Print the notices into their buffer, if there is one."
  (hive-in-buffer hive-notify--name
    (hive-text-reprint
     (lambda ()
       (unless hive-notify--list (insert (hive-words "There are no notices.") "\n"))
       (mapc #'hive-notify--insert hive-notify--list)
       (hive-wrap-heed (point-min) (point-max))))))

(defun hive-notify--insert (notice)
  "Insert NOTICE, with what was sent if that is known."
  (hive-text-part (or (plist-get notice :notice_id) notice)
    (insert (propertize (hive-words 'ago (hive-text-age (plist-get notice :at))) 'face 'hive-shadow)
            "  "
            (propertize (hive-text-inert (plist-get notice :text))
                        'face (and (equal "error" (plist-get notice :severity)) 'hive-critical))
            "\n")
    (when (hive-notify--loop-p notice) (hive-loop-insert-actions notice))
    (when (stringp (plist-get notice :sent))
      (insert (propertize (hive-words "What was sent:") 'face 'hive-shadow) " "
              (hive-text-inert (plist-get notice :sent)) "\n"))))

;;;###autoload
(defun hive-notices ()
  "List what Hive reported: guards that gave up, missing reports and more."
  (interactive)
  (with-current-buffer (get-buffer-create hive-notify--name)
    (unless (derived-mode-p 'special-mode)
      (special-mode)
      (hive-text-set-up #'hive-notify--show)
      (hive-rpc-while-shown hive-ages-pause #'hive-notify--show))
    (hive-notify--show)
    (goto-char (point-min)))
  (pop-to-buffer hive-notify--name))

(provide 'hive-notify)
;;; hive-notify.el ends here
