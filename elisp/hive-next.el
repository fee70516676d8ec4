;;; hive-next.el --- Answering one question after the other  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; `hive-next' takes the most urgent question that waits, and one key
;; answers it: each option has one.  Then it offers the following question,
;; until none is left or you leave it.  No key answers what was not yet on
;; the screen, and a permission is confirmed.

;;; Code:

(require 'cl-lib)
(require 'hive-compose)
(require 'hive-human)
(require 'hive-messages)
(require 'hive-model)
(require 'hive-prompt)
(require 'hive-read)
(require 'hive-respond)
(require 'hive-rpc)
(require 'hive-text)
(require 'subr-x)

;;;; Keys that answer what was seen

;; Where one key answers, it must have been pressed for what is on the
;; screen: what was typed before that is dropped.  A key that means nothing
;; here is given back to Emacs.

(defconst hive-next--quiet 0.3
  "For how many seconds something new is shown before a key counts.")

(defvar hive-next--raw nil "The key that was read last, as the terminal sent it.")

(defun hive-keys-read (text new)
  "Show TEXT in the echo area and return the key that is pressed.
If TEXT is NEW to the human, keys count only once it has been
shown for a moment in which none was pressed."
  (let ((resize-mini-windows t)
        (max-mini-window-height 0.75)
        (message-log-max nil))
    (when (and new (hive-next--dropped-p text))
      (setq text (concat text (propertize (hive-words 'next-dropped)
                                          'face 'shadow))))
    (let ((key (read-key text)))
      (setq hive-next--raw (this-single-command-raw-keys))
      (hive-next--whole key hive-next--raw))))

(defun hive-next--whole (key raw)
  "Return KEY, or when it only begins a Meta key that is RAW, all of that.
In a terminal `read-key' returns the escape alone, and drops the rest."
  (if (and (eq key ?\e) (> (length raw) 1) (characterp (aref raw 1)))
      (event-convert-list (list 'meta (aref raw 1)))
    key))

(defun hive-next--dropped-p (text)
  "Show TEXT for a moment; return non-nil if keys were dropped meanwhile."
  (let ((dropped nil) (waiting t))
    (while waiting
      ;; A key clears the echo area, and one that waits keeps it from being drawn.
      (message "%s" text)
      (redisplay t)
      (let ((event (read-event nil nil hive-next--quiet)))
        (cond ((null event) (setq waiting nil))
              ((eq event ?\C-g)         ; to leave is never too early
               (setq waiting nil)
               (push event unread-command-events))
              (t (setq dropped t)))))
    dropped))

(defun hive-keys-foreign-p (key)
  "Return non-nil if KEY is to be given back to Emacs.
It is not when it would only insert itself where it was not meant."
  (not (and (characterp key)
            (eq (key-binding (vector key)) #'self-insert-command))))

(defun hive-keys-give-back (key)
  "Let Emacs read KEY, which was read last, once more.
After a prefix the whole sequence then runs as it always does."
  (setq unread-command-events
        (append (or hive-next--raw (vector key)) unread-command-events)))

;;;; Answering one question after the other

(defface hive-next-key '((t :inherit (bold highlight)))
  "The key of an option."
  :group 'hive)

(defface hive-next-chosen '((t :inherit (bold success)))
  "An option that was chosen, where several may be."
  :group 'hive)

;;;; Keys

(defconst hive-next--keys "123456789abcdfghijklmnoprtuvwxyz"
  "The keys of options, in order; e, q and s mean something else.")

(defun hive-next--choices (prompt)
  "Return an alist of key and option of PROMPT, templates last."
  (cl-loop for option in (append (plist-get prompt :options)
                                 (mapcar (lambda (text) (list :template text))
                                         (hive-template-texts prompt)))
           for key across hive-next--keys
           collect (cons key option)))

(defun hive-next--choice-text (choice chosen)
  "Return CHOICE, a key and an option, as shown; CHOSEN are the labels chosen."
  (let* ((label (plist-get (cdr choice) :label))
         (mine (member label chosen))
         (template (plist-get (cdr choice) :template)))
    (concat (propertize (format " %c " (car choice)) 'face 'hive-next-key) " "
            (if template
                (propertize (hive-text-line template 60) 'face 'hive-template)
              (propertize (hive-text-line label 60) 'face (if mine 'hive-next-chosen 'default)))
            (if mine " ✓" ""))))

(defun hive-next--help (prompt)
  "Return what the other keys do for PROMPT."
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
  "Return what is shown of PROMPT; CHOSEN are labels, LEFT is how many follow."
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
     (propertize (hive-human-note prompt) 'face 'warning)
     (hive-text-line (plist-get prompt :question) (* 3 (frame-width))) "\n"
     (hive-permission-about prompt (frame-width))
     (mapconcat (lambda (choice) (hive-next--choice-text choice chosen))
                (hive-next--choices prompt) "   ")
     (if (hive-next--choices prompt) "\n" "")
     (propertize (hive-next--help prompt) 'face 'shadow))))

;;;; One question

(defun hive-next--read-key (text new)
  "Show TEXT in the echo area and return the key that is pressed for it.
NEW is as for `hive-keys-read'."
  (hive-keys-read text new))

(defun hive-next--ask (prompt left)
  "Let the human deal with PROMPT, after which LEFT follow.
Return what they did: answered, skip, snooze, or nil to leave."
  (hive-respond-claim prompt)
  (let ((choices (hive-next--choices prompt))
        (several (hive-rpc-true-p prompt :multi_select))
        (free (hive-rpc-true-p prompt :allow_free_text))
        (chosen nil) (done nil) (new t))
    (while (not done)
      (let* ((key (hive-next--read-key (hive-next--text prompt chosen left) new))
             (option (cdr (assq key choices)))
             (label (plist-get option :label)))
        ;; Only to choose one more leaves all else as the human saw it.
        (setq new (not (and option several)))
        (cond
         ((plist-get option :template)
          (setq done (hive-next--send-template prompt (plist-get option :template) chosen)))
         ((and option several)
          (setq chosen (if (member label chosen) (remove label chosen)
                         (append chosen (list label)))))
         (option (setq done (hive-next--send prompt (list label))))
         ((memq key '(?\r ?\n return))
          (cond (chosen (setq done (hive-next--send prompt chosen)))
                (several (hive-next--say (hive-words 'next-choose-first)))
                (free (setq done (hive-next--own-words prompt)))
                (t (hive-next--say (hive-words 'next-options-only)))))
         ((and free (eq key ?e)) (setq done (hive-next--own-words prompt)))
         ((memq key '(?\t tab)) (setq done 'skip))
         ((eq key ?s) (setq done (hive-next--snooze prompt)))
         ((eq key ??) (hive-prompt-show prompt) (setq done 'leave))
         ((memq key '(?q ?\e ?\C-g escape)) (setq done 'leave))
         (t (setq done (hive-next--stray key))))))
    (unless (eq done 'answered) (hive-respond-release prompt))
    (unless (eq done 'leave) done)))

(defun hive-next--say (text)
  "Say TEXT for a second or until a key is pressed; return nil."
  (message "%s" text)
  (ignore (sit-for 1)))

(defun hive-next--stray (key)
  "Deal with KEY, which means nothing here: leave, and let Emacs have it.
Return nil when the human stays: the key of an option that this
question lacks would do something else there, or be inserted."
  (if (and (not (seq-contains-p hive-next--keys key)) (hive-keys-foreign-p key))
      (progn (hive-keys-give-back key) 'leave)
    (hive-next--say (hive-words 'next-stray (key-description (vector key))))))

(defun hive-next--confirm (prompt decision description)
  "Let the human confirm DECISION about PROMPT and return answered.
DESCRIPTION is that of its option, or nil.  Return leave when they
press a key that leaves, and nil when they go back."
  (if (not (hive-permission-confirmed-p prompt decision))
      'answered
    (let ((key (hive-next--read-key
                (concat (hive-permission-mark prompt)
                        (hive-text-line (plist-get prompt :question) (* 2 (frame-width)))
                        "\n" (hive-permission-about prompt (frame-width))
                        (propertize (hive-text-line decision 120) 'face 'hive-next-chosen)
                        (if description (concat ": " (hive-text-line description 160)) "")
                        (propertize (hive-words 'next-confirm) 'face 'shadow))
                t)))
      (cond ((memq key '(?y ?\r ?\n return)) 'answered)
            ((memq key '(?n ?q ?\e ?\C-g escape)) nil)
            (t (hive-next--stray key))))))

(defun hive-next--description (prompt labels)
  "Return the descriptions in PROMPT of its options LABELS, or nil."
  (let ((said (cl-loop for option across (vconcat (plist-get prompt :options))
                       when (and (member (plist-get option :label) labels)
                                 (plist-get option :description))
                       collect (plist-get option :description))))
    (and said (string-join said "; "))))

(defun hive-next--send (prompt labels)
  "Answer PROMPT with the options LABELS, once that is confirmed if need be."
  (let* ((decision (string-join labels ", "))
         (done (hive-next--confirm prompt decision (hive-next--description prompt labels))))
    (when (eq done 'answered)
      (hive-respond-send prompt (list :decision decision :selected (vconcat labels))))
    done))

(defun hive-next--send-template (prompt text chosen)
  "Answer PROMPT with TEXT, a template, beside the labels CHOSEN if any."
  (let* ((decision (if chosen (string-join chosen ", ") text))
         (done (hive-next--confirm prompt decision (and chosen text))))
    (when (eq done 'answered)
      (hive-respond-send prompt
                          (if chosen
                              (list :decision decision :selected (vconcat chosen) :comment text)
                            (list :decision decision))))
    done))

(defun hive-next--own-words (prompt)
  "Answer PROMPT in words of the human's own; empty words answer nothing."
  (let ((answer (list :decision (hive-compose-read prompt))))
    (if (hive-respond-empty-p answer)
        'skip
      (hive-respond-send prompt answer)
      'answered)))

(defun hive-next--snooze (prompt)
  "Put PROMPT away and say that it is done with for now."
  (hive-snooze-prompt prompt)
  'snooze)

;;;; The command

(defun hive-next--following (passed)
  "Return what waits now and was not PASSED, a list of ids."
  (cl-remove-if (lambda (prompt)
                  (or (member (plist-get prompt :ask_id) passed)
                      (hive-prompt-snoozed-p prompt)))
                (hive-prompts-mine)))

;;;###autoload
(defun hive-next ()
  "Answer what waits, one question after the other, the most urgent first.
Each option has a key: 1 to 9, then letters.  Where several may be
chosen the keys toggle and RET sends.  Otherwise RET takes words of
your own.  TAB skips a question, s puts it away for a while, q
leaves.  ? leaves too, and shows all of the question in a buffer,
where \\<hive-prompt-mode-map>\[hive-next] goes on.  After an answer the next one follows.

A key counts only once its question has been shown for a moment;
what was typed before is dropped.  What may permit something is
confirmed with RET or y.  A key that means nothing here leaves, and
does what it always does."
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
