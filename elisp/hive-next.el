;;; hive-next.el --- Answering questions one by one  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; `hive-next' shows the most urgent pending question, with a key for each
;; option; one key answers it.  Then comes the next question, until none is
;; left or you quit.  A key that was pressed before its question was on the
;; screen is ignored, and a permission is confirmed.

;;; Code:

(require 'cl-lib)
(require 'hive-compose)
(require 'hive-display)
(require 'hive-human)
(require 'hive-messages)
(require 'hive-model)
(require 'hive-prompt)
(require 'hive-read)
(require 'hive-respond)
(require 'hive-rpc)
(require 'hive-text)
(require 'subr-x)

;;;; Reading a key

;; A single key answers, so it must have been pressed for what is on the
;; screen: keys typed earlier are dropped.  A key that does nothing here is
;; given back to Emacs.

(defconst hive-next--quiet 0.3
  "How many seconds a new question is shown before keys count.")

(defvar hive-next--raw nil "The events of the last key, as the terminal sent them.")

(defun hive-keys-read (text new &optional harmless)
  "Show TEXT in the echo area and return the next key.
If TEXT is NEW to the human, keys count only after a moment in which
it was shown and no key was pressed.  A key of the list HARMLESS,
which decides nothing, counts at once, unless one was ignored before."
  (let ((resize-mini-windows t)
        (max-mini-window-height 0.75)
        (message-truncate-lines nil)
        (message-log-max nil))
    (when (and new (hive-next--dropped-p text harmless))
      (setq text (concat text (propertize (hive-words 'next-dropped)
                                          'face 'shadow))))
    (let ((key (read-key text)))
      (setq hive-next--raw (this-single-command-raw-keys))
      (hive-next--whole key hive-next--raw))))

(defun hive-next--whole (key raw)
  "Return KEY, or if it only begins a Meta key, RAW, that key.
In a terminal, `read-key' returns the escape alone and drops the rest."
  (if (and (eq key ?\e) (> (length raw) 1) (characterp (aref raw 1)))
      (event-convert-list (list 'meta (aref raw 1)))
    key))

(defun hive-next--dropped-p (text harmless)
  "Show TEXT for a moment; return non-nil if keys were dropped.
HARMLESS is as for `hive-keys-read'."
  (let ((dropped nil) (waiting t))
    (while waiting
      ;; A key clears the echo area, and pending input prevents redisplay.
      (message "%s" text)
      (redisplay t)
      (let ((event (read-event nil nil hive-next--quiet)))
        (cond ((null event) (setq waiting nil))
              ((or (eq event ?\C-g)     ; quitting is never too early
                   ;; After a key that was ignored, one that follows it was
                   ;; perhaps meant for what that one would have led to.
                   (and (not dropped) (memq event harmless)))
               (setq waiting nil)
               (push event unread-command-events))
              (t (setq dropped t)))))
    dropped))

(defun hive-keys-foreign-p (key)
  "Return non-nil if KEY should be given back to Emacs.
A key that would insert itself somewhere should not."
  (not (and (characterp key)
            (eq (key-binding (vector key)) #'self-insert-command))))

(defun hive-keys-give-back (key)
  "Give KEY, which was read last, back to Emacs.
A prefix key then begins its usual key sequence."
  (setq unread-command-events
        (append (or hive-next--raw (vector key)) unread-command-events)))

;;;; Faces

(defface hive-next-key '((t :inherit (bold highlight)))
  "The key of an option."
  :group 'hive)

(defface hive-next-chosen '((t :inherit (bold success)))
  "A chosen option of a question that allows several."
  :group 'hive)

;;;; What is shown

(defconst hive-next--keys "123456789abcdfghijklmnoprtuvwxyz"
  "The keys of options, in order; e, q and s have other meanings.")

(defun hive-next--choices (prompt)
  "Return an alist of keys and options of PROMPT, templates last."
  (cl-loop for option in (append (plist-get prompt :options)
                                 (mapcar (lambda (text) (list :template text))
                                         (hive-template-texts prompt)))
           for key across hive-next--keys
           collect (cons key option)))

(defun hive-next--choice-text (choice chosen &optional whole)
  "Return the text of CHOICE, a key and an option; CHOSEN are labels.
With WHOLE, do not shorten it."
  (let* ((label (plist-get (cdr choice) :label))
         (mine (member label chosen))
         (template (plist-get (cdr choice) :template)))
    (concat (propertize (format " %c " (car choice)) 'face 'hive-next-key) " "
            (if template
                (propertize (hive-text-line template (unless whole 60)) 'face 'hive-template)
              (propertize (hive-text-line label (unless whole 60)) 'face (if mine 'hive-next-chosen 'default)))
            (if mine " ✓" ""))))

(defun hive-next--help (prompt)
  "Return the line that explains the other keys for PROMPT."
  (string-join
   (delq nil
         (list (when (and (plist-get prompt :options) (hive-rpc-true-p prompt :multi_select))
                 (hive-words 'key-send))
               (when (hive-rpc-true-p prompt :allow_free_text)
                 (if (hive-rpc-true-p prompt :multi_select) (hive-words 'key-e-own-words)
                   (hive-words 'key-own-words)))
               (hive-words 'key-skip) (hive-words 'key-snooze)
               (hive-words 'key-full) (hive-words 'key-leave)))
   "  "))

(defun hive-next--text (prompt chosen left)
  "Return the text for PROMPT; CHOSEN are labels, LEFT is how many follow.
A permission is shown in full if that fits.  Then the text has the
property `hive-whole'."
  (let ((whole (and (hive-permission-p prompt)
                    (not (hive-rpc-true-p prompt :context_truncated))
                    (hive-next--long-text prompt chosen left))))
    (if (and whole (hive-display-fits-p whole))
        (propertize whole 'hive-whole t)
      (hive-next--short-text prompt chosen left))))

(defun hive-next--heading (prompt left)
  "Return the first line for PROMPT; LEFT is how many follow."
  (let ((mark (pcase (hive-prompt-rank prompt) (0 "! ") (2 "· ") (_ ""))))
    (concat
     (propertize
      (format "%s%s  %s  %s%s\n" mark
              (hive-text-agent prompt 40)
              (hive-text-line (plist-get prompt :project) 30)
              (hive-text-age (plist-get prompt :created_at))
              (if (> left 0) (hive-words 'next-more left) ""))
      'face 'shadow)
     (hive-permission-mark prompt)
     (propertize (hive-human-note prompt) 'face 'warning))))

(defun hive-next--long-text (prompt chosen left)
  "Return all of the text of PROMPT; CHOSEN and LEFT as in `hive-next--text'."
  (concat
   (hive-next--heading prompt left)
   (hive-text-inert (plist-get prompt :question)) "\n"
   (hive-read-below prompt)
   (mapconcat (lambda (choice)
                (let ((description (plist-get (cdr choice) :description)))
                  (concat (hive-next--choice-text choice chosen t)
                          (if description (concat ": " (hive-text-inert description)) "")
                          "\n")))
              (hive-next--choices prompt) "")
   (propertize (hive-next--help prompt) 'face 'shadow)))

(defun hive-next--short-text (prompt chosen left)
  "Return the text for PROMPT as it fits; CHOSEN and LEFT as in `hive-next--text'."
  (concat
   (hive-next--heading prompt left)
   (hive-text-line (plist-get prompt :question) (* 3 (frame-width))) "\n"
   (hive-read-below prompt (frame-width))
   (if (and (hive-permission-p prompt) (not (hive-display-digest prompt)))
       (propertize (hive-words 'permission-long) 'face 'warning)
     "")
   (mapconcat (lambda (choice) (hive-next--choice-text choice chosen))
              (hive-next--choices prompt) "   ")
   (if (hive-next--choices prompt) "\n" "")
   (propertize (hive-next--help prompt) 'face 'shadow)))

;;;; Dealing with one question

(defconst hive-next--skip '(?\t tab) "The keys that skip a question.")

(defun hive-next--read-key (text new &optional harmless)
  "Show TEXT in the echo area and return the next key.
NEW and HARMLESS are as for `hive-keys-read'."
  (hive-keys-read text new harmless))

(defun hive-next--ask (prompt left)
  "Let the human deal with PROMPT; LEFT questions follow.
Return what they did: answered, skip, snooze, or nil to leave."
  (hive-respond-claim prompt)
  (let ((choices (hive-next--choices prompt))
        (several (hive-rpc-true-p prompt :multi_select))
        (free (hive-rpc-true-p prompt :allow_free_text))
        (chosen nil) (done nil) (new t))
    (while (not done)
      (let* ((text (hive-next--text prompt chosen left))
             (key (prog1 (hive-next--read-key text new hive-next--skip)
                    (when (get-text-property 0 'hive-whole text)
                      (hive-display-whole prompt))))
             (option (cdr (assq key choices)))
             (label (plist-get option :label)))
        ;; Toggling an option changes nothing else on the screen.
        (setq new (not (and option several)))
        (cond
         ((and (plist-get option :template) (hive-next--unread-p prompt nil))
          (setq done (hive-next--open prompt)))
         ((plist-get option :template)
          (setq done (hive-next--send-template prompt (plist-get option :template) chosen)))
         ((and option several)
          (setq chosen (if (member label chosen) (remove label chosen)
                         (append chosen (list label)))))
         ((and option (hive-next--unread-p prompt (list :selected (list label))))
          (setq done (hive-next--open prompt)))
         (option (setq done (hive-next--send prompt (list label))))
         ((memq key '(?\r ?\n return))
          (cond ((and chosen (hive-next--unread-p prompt (list :selected chosen)))
                 (setq done (hive-next--open prompt)))
                (chosen (setq done (hive-next--send prompt chosen)))
                (several (hive-next--say (hive-words 'next-choose-first)))
                (free (setq done (hive-next--own-words prompt)))
                (t (hive-next--say (hive-words 'next-options-only)))))
         ((and free (eq key ?e)) (setq done (hive-next--own-words prompt)))
         ((memq key hive-next--skip) (setq done 'skip))
         ((eq key ?s) (setq done (hive-next--snooze prompt)))
         ((eq key ??) (hive-prompt-show prompt) (setq done 'leave))
         ((memq key '(?q ?\e ?\C-g escape)) (setq done 'leave))
         (t (setq done (hive-next--stray key))))))
    (unless (eq done 'answered) (hive-respond-release prompt))
    (unless (eq done 'leave) done)))

(defun hive-next--unread-p (prompt answer)
  "Return non-nil if ANSWER could permit what was not displayed of PROMPT."
  (and (hive-permission-grant-p prompt answer) (not (hive-display-digest prompt))))

(defun hive-next--open (prompt)
  "Show PROMPT in full, because it must be read before it is allowed."
  (hive-prompt-show prompt)
  (hive-say 'permission-open)
  'leave)

(defun hive-next--say (text)
  "Show TEXT for a second or until a key is pressed; return nil."
  (message "%s" text)
  (ignore (sit-for 1)))

(defun hive-next--stray (key)
  "Deal with KEY, which does nothing here: leave, and give it to Emacs.
Return nil to stay if KEY is the key of an option that this question
lacks, or would insert itself."
  (if (and (not (seq-contains-p hive-next--keys key)) (hive-keys-foreign-p key))
      (progn (hive-keys-give-back key) 'leave)
    (hive-next--say (hive-words 'next-stray (key-description (vector key))))))

(defun hive-next--confirm (prompt decision description)
  "Let the human confirm DECISION about PROMPT, and return answered.
DESCRIPTION is that of its option, or nil.  Return leave if they press
a key that leaves, and nil if they go back."
  (if (not (hive-permission-confirmed-p prompt decision))
      'answered
    (let ((key (hive-next--read-key (hive-next--confirm-text prompt decision description) t)))
      (cond ((memq key '(?y ?\r ?\n return)) 'answered)
            ((memq key '(?n ?q ?\e ?\C-g escape)) nil)
            (t (hive-next--stray key))))))

(defun hive-next--confirm-text (prompt decision description)
  "Return the text that asks to confirm DECISION about PROMPT.
DESCRIPTION is that of its option, or nil."
  (let* ((said (lambda (width)
                 (concat (propertize (hive-text-line decision width) 'face 'hive-next-chosen)
                         (if description (concat ": " (hive-text-line description width)) "")
                         (propertize (hive-words 'next-confirm) 'face 'shadow))))
         (whole (concat (hive-permission-mark prompt)
                        (hive-text-inert (plist-get prompt :question)) "\n"
                        (hive-read-below prompt) (funcall said nil))))
    (if (hive-display-fits-p whole)
        whole
      (concat (hive-permission-mark prompt)
              (hive-text-line (plist-get prompt :question) (* 2 (frame-width))) "\n"
              (hive-read-below prompt (frame-width)) (funcall said 160)))))

(defun hive-next--description (prompt labels)
  "Return the descriptions in PROMPT of its options LABELS, or nil."
  (let ((said (cl-loop for option across (vconcat (plist-get prompt :options))
                       when (and (member (plist-get option :label) labels)
                                 (plist-get option :description))
                       collect (plist-get option :description))))
    (and said (string-join said "; "))))

(defun hive-next--send (prompt labels)
  "Answer PROMPT with the options LABELS, after confirmation if needed."
  (let* ((decision (string-join labels ", "))
         (done (hive-next--confirm prompt decision (hive-next--description prompt labels))))
    (when (eq done 'answered)
      (hive-respond-send prompt (list :decision decision :selected (vconcat labels))))
    done))

(defun hive-next--send-template (prompt text chosen)
  "Answer PROMPT with TEXT, a template, or with CHOSEN labels and TEXT."
  (let* ((decision (if chosen (string-join chosen ", ") text))
         (done (hive-next--confirm prompt decision (and chosen text))))
    (when (eq done 'answered)
      (hive-respond-send prompt
                          (if chosen
                              (list :decision decision :selected (vconcat chosen) :comment text)
                            (list :decision decision))))
    done))

(defun hive-next--own-words (prompt)
  "Answer PROMPT with text that the human types; blank text skips it."
  (let ((answer (list :decision (hive-compose-read prompt))))
    (if (hive-respond-empty-p answer)
        'skip
      (hive-respond-send prompt answer)
      'answered)))

(defun hive-next--snooze (prompt)
  "Snooze PROMPT and return snooze."
  (hive-snooze-prompt prompt)
  'snooze)

;;;; The command

(defun hive-next--following (passed)
  "Return the pending questions except PASSED, a list of ids."
  (cl-remove-if (lambda (prompt)
                  (or (member (plist-get prompt :ask_id) passed)
                      (hive-prompt-snoozed-p prompt)))
                (hive-prompts-mine)))

;;;###autoload
(defun hive-next ()
  "Answer the pending questions one by one, the most urgent first.
Each option has a key: 1 to 9, then letters.  If you may choose
several, the keys toggle and RET sends; otherwise RET lets you type an
answer, and so does e in both cases.  TAB skips a question, s snoozes
it, q leaves.  ? leaves too, and shows the full question in a buffer,
where \\<hive-prompt-mode-map>\\[hive-next] goes on.

A key counts only after its question has been shown for a moment; keys
typed earlier are ignored, except TAB: to skip several questions, press
it as fast as you like.  What may grant a permission is confirmed
with RET or y.  If a permission does not fit here in full, a key that
may grant it opens its buffer instead.  Any other key leaves, and does
what it usually does."
  (interactive)
  (when executing-kbd-macro
    (hive-fail 'next-macro))
  (let ((passed nil) (waiting (hive-next--following nil)) (answered 0))
    (unless (or waiting (hive-prompts)) (hive-sidecar-demand))
    (unless waiting (hive-say 'none-pending (hive-respond-others)))
    (while waiting
      (let* ((prompt (car waiting))
             (done (hive-next--ask prompt (length (cdr waiting)))))
        (push (plist-get prompt :ask_id) passed)
        (when (eq done 'answered) (setq answered (1+ answered)))
        (setq waiting (and done (hive-next--following passed)))
        (when (and done (null waiting))
          (if (> answered 0)
              (hive-say 'next-done answered)
            (hive-say 'next-none)))))))

(provide 'hive-next)
;;; hive-next.el ends here
