;;; hive-next.el --- Answering questions one by one  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; `hive-next' shows the most urgent pending question, with a key for each
;; option; one key answers it.  Then comes the next question, until none is
;; left or you quit.  Questions that are alike are shown together, and one key
;; answers all of them.  A key that was pressed before its question was on the
;; screen is ignored.  An answer that allows something can be taken back for a
;; moment.

;;; Code:

(require 'cl-lib)
(require 'hive-amend)
(require 'hive-batch)
(require 'hive-display)
(require 'hive-human)
(require 'hive-interrupt)
(require 'hive-markdown)
(require 'hive-messages)
(require 'hive-model)
(require 'hive-prompt)
(require 'hive-read)
(require 'hive-respond)
(require 'hive-rpc)
(require 'hive-rules)
(require 'hive-text)
(require 'subr-x)

;;;; Reading a key

;; A single key answers, so it must have been pressed for what is on the
;; screen: keys typed earlier are dropped.  A key that does nothing here is
;; given back to Emacs, unless it could type something into a buffer.

(defconst hive-next--quiet 0.3
  "How many seconds a new question is shown before keys count.")

(defconst hive-next--parting 2
  "For how many seconds it is shown that the question before was settled.
The human may be about to press a key for that question.")

(defvar hive-next--raw nil "The events of the last key, as the terminal sent them.")

(defvar echo-area-clear-hook)
(defvar xterm-extra-capabilities)

(defun hive-keys-read (text new &optional harmless below stale)
  "Show TEXT in the echo area and return the next key.
If TEXT is NEW to the human, keys count only after a moment in which
it was shown and no key was pressed; NEW may say how many seconds that is.
A key of the list HARMLESS, which decides nothing, counts at once, unless
one was ignored before.
BELOW is a function that returns what is shown below TEXT, or nil if TEXT
is out of date; it is called again every second and for each key.
Return nil if it is, whatever was typed.
STALE is a function that returns non-nil if TEXT should be shown again with
other words, but its keys count.  Return `hive-stale' if it does and no key
was typed.
Return `cut' if not all of TEXT is on the screen, and nil if it was but
is no longer: a key that types something does not count then."
  (let* ((resize-mini-windows t)
         (max-mini-window-height 1.0)
         (message-truncate-lines nil)
         (below (or below (lambda () "")))
         (frames (list (selected-frame) (window-frame (minibuffer-window))))
         (terminal (frame-terminal))
         ;; A new terminal is not asked what it can do: its answer would not be
         ;; read before this ends, and would then be typed into a buffer.
         (xterm-extra-capabilities nil)
         (shown nil) (there-p nil) (was-there nil)
         (draw (lambda () (setq there-p (hive-display-draw shown))))
         (look (lambda ()
                 (let* ((more (funcall below))
                        (now (concat text more)))
                   (cond ((not (and more there-p (funcall there-p) (eq terminal (frame-terminal))))
                          (push 'hive-gone unread-command-events))
                         ((and stale (funcall stale)) (push 'hive-stale unread-command-events))
                         ((not (equal-including-properties now shown))
                          (setq shown now)
                          (funcall draw))))))
         (timer nil))
    (when (and new (hive-next--dropped-p (concat text (funcall below)) harmless (and (numberp new) new)))
      (setq text (hive-next--add-key
                  text (hive-words "(keys typed before this appeared were ignored)"))))
    (setq shown (concat text (funcall below)))
    (if (not (funcall draw))
        ;; The rest of TEXT names keys that do nothing where it is shown next.
        (progn (message nil) 'cut)
      (setq timer (hive-every 1 (lambda () (hive-rpc-guarded look))))
      (let* ((echo-area-clear-hook
              ;; It runs when a key was pressed, before that clears the echo area.
              (list (lambda ()
                      (setq was-there (and there-p (funcall there-p)))
                      (hive-next--note-side))))
             (key (unwind-protect (read-key)
                    (cancel-timer timer)
                    (setq unread-command-events
                          (delq 'hive-stale (delq 'hive-gone unread-command-events))))))
        (setq hive-next--raw (this-single-command-raw-keys))
        ;; A new emacsclient: Emacs would read no key of its terminal before this
        ;; command ends, so it ends, as a minibuffer does then.
        (unless (eq terminal (frame-terminal)) (top-level))
        (cond ((eq key 'hive-gone) nil)
              ((and (hive-next--typed-p key) (not (funcall below))) nil)
              ((and (hive-next--typed-p key) (not (memq key harmless))
                    (not (and was-there (memq last-event-frame frames))))
               ;; The question goes to the frame where the human is.
               (when (frame-live-p last-event-frame) (select-frame last-event-frame))
               nil)
              (t (hive-next--whole key hive-next--raw)))))))

(defun hive-next--whole (key raw)
  "Return KEY, or if it only begins a Meta key, RAW, that key.
In a terminal, `read-key' returns the escape alone and drops the rest."
  (if (and (eq key ?\e) (> (length raw) 1) (characterp (aref raw 1)))
      (event-convert-list (list 'meta (aref raw 1)))
    key))

(defun hive-next--dropped-p (text harmless &optional seconds)
  "Show TEXT for a moment, or SECONDS; return non-nil if keys were dropped.
HARMLESS is as for `hive-keys-read'."
  (let ((dropped nil) (waiting t))
    (while waiting
      ;; A key clears the echo area, and so may anything else.
      (let* ((there-p (hive-display-draw text))
             (event (and there-p (read-event nil nil (or seconds hive-next--quiet)))))
        (cond ((null event)
               ;; An Emacs that was stalled returns before it reads what was
               ;; typed and runs what is due.
               (setq waiting (and there-p (or (input-pending-p t) (not (funcall there-p))))))
              ((or (eq event ?\C-g)     ; quitting is never too early
                   ;; A key after an ignored key was perhaps meant for what the
                   ;; ignored key would have shown.
                   (and (not dropped) (memq event harmless)))
               (setq waiting nil)
               (push event unread-command-events))
              (t (setq dropped t)))))
    dropped))

(defun hive-keys-give-back (key)
  "Give KEY, which was read last, back to Emacs.
A prefix key then begins its usual key sequence."
  (setq unread-command-events
        ;; A click or a paste is given back as an event: the raw keys have only
        ;; the beginning of what the terminal sent for it.
        (append (if (consp key) (list key) (or hive-next--raw (vector key)))
                unread-command-events)))

;;;; Faces

;; The colours of Emacs' own `highlight', on which the ink of some themes is faint.
(defface hive-next-key
  '((((class color) (min-colors 88) (background light)) :background "darkseagreen2" :foreground "#000000" :weight bold)
    (((class color) (min-colors 88) (background dark)) :background "darkolivegreen" :foreground "#ffffff" :weight bold)
    (t :inherit (bold highlight)))
  "The key of an option." :group 'hive-faces)

(defface hive-next-chosen '((t :inherit (bold hive-success)))
  "A chosen option of a question that allows several." :group 'hive-faces)

;;;; The text of a question

(defconst hive-next--keys "123456789abcdfghijklmnprtvwxyz"
  "The keys of options, in order; e, o, q, s and u have other meanings.")

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
            (if mine (hive-mark " ✓") ""))))

(defun hive-next--add-key (text key)
  "Return TEXT followed by KEY with its meaning, which is not broken over lines."
  (hive-display-flow text (propertize key 'face 'hive-shadow) "  "))

(defun hive-next--wrapped (text)
  "Return TEXT with its lines broken at blanks, as the echo area does not.
Emacs breaks words that are longer than a row."
  (with-temp-buffer
    (insert text)
    (goto-char (point-min))
    (while (not (eobp))
      ;; The last column may be a continuation mark.
      (move-to-column (1- (car (hive-display-room))))
      (cond ((eolp) (forward-line 1))
            ((progn (forward-char)
                    (or (search-backward " " (min (point) (+ 5 (line-beginning-position))) t)
                        (search-forward " " (line-end-position) t)))
             (replace-match "\n    "))
            (t (forward-line 1))))
    (buffer-string)))

(defun hive-next--help (prompt &optional first tight)
  "Return the lines that explain the other keys for PROMPT, FIRST one before them.
If TIGHT, none has a line of its own."
  (seq-reduce
   #'hive-next--add-key
   (delq nil
         (list first
               (when (and (plist-get prompt :options) (hive-rpc-true-p prompt :multi_select))
                 (hive-words "RET send"))
               (when (hive-rpc-true-p prompt :allow_free_text)
                 (if (hive-rpc-true-p prompt :multi_select) (hive-words "e type an answer")
                   (hive-words "RET type an answer")))
               (when (append (plist-get prompt :options) nil) (hive-words "+ add words"))
               (when (and tight (hive-permission-of-call-p prompt)) (hive-words "A allow by a rule of Hive"))
               (when (hive-prompt-ended-p prompt) (hive-words "C cancel all that have ended"))
               (hive-words "TAB skip") (hive-words "s snooze")
               (hive-words "o open") (hive-words "? keys") (hive-words "q quit")))
   (if (and (hive-permission-of-call-p prompt) (not tight))
       ;; A line of its own, like that of what the client offers to allow.
       (concat (propertize " A " 'face 'hive-next-key) " "
               (hive-words "Always allow by a rule of Hive in your trust.json, which you see first")
               "\n")
     "")))

(defun hive-next--text (batch chosen left)
  "Return the text for BATCH; CHOSEN are labels, LEFT is how many follow.
BATCH is a list of one question or of several that are alike.  A
permission is shown in full if that fits, and several always are.  Then
the text has the property `hive-whole'."
  (if (cdr batch) (hive-next--batch-text batch chosen left)
    (hive-next--one-text (car batch) chosen left)))

(defun hive-next--one-text (prompt chosen left)
  "Return the text for PROMPT; CHOSEN and LEFT as in `hive-next--text'.
It is as much as fits: all of it, or all that could be allowed with the
choices in few lines, or the beginning of the context.  What does not
fit leaves the room to the window that shows it, if there is one."
  (let ((whole (unless (hive-rpc-true-p prompt :context_truncated)
                 (cl-loop for (said tight) in (if (hive-permission-p prompt) '((t) (nil) (nil t))
                                                '((t) (nil)))
                          thereis (let ((text (hive-next--long-text prompt chosen left said tight)))
                                    (and (hive-display-fits-p text) text)))))
        (line (hive-next--choices-line prompt chosen)))
    (cond (whole (if (hive-permission-p prompt) (propertize whole 'hive-whole t) whole))
          ((hive-next--side-window prompt) (hive-next--short-text prompt left line t))
          ((let ((choices (hive-next--whole-choices prompt chosen)))
             ;; The permitted call is worth more room than the meaning of the options.
             (unless (hive-permission-p prompt) (hive-next--filled-text prompt left choices))))
          ((hive-next--filled-text prompt left line))
          (t (hive-next--short-text prompt left line)))))

(defun hive-next--filled-text (prompt left choices)
  "Return the text for PROMPT with CHOICES and as much context as fits.
Return nil if not even a short text fits.  LEFT is how many follow."
  (when-let* ((room (hive-display-fits-p (hive-next--short-text prompt left choices))))
    (hive-next--short-text prompt left choices nil room)))

(defun hive-next--heading (prompt left question &optional tight)
  "Return the first line for PROMPT, and QUESTION; LEFT is how many follow.
If TIGHT, they are on one line where they fit."
  (let* ((mark (pcase (hive-prompt-rank prompt) (0 "! ") (2 (hive-mark "· ")) (_ "")))
         (line (propertize (concat mark (hive-text-agent-in prompt 40) "  "
                                   (hive-prompt-waits (hive-next--now prompt))
                                   (if (> left 0) (hive-words 'next-more left) ""))
                           'face 'hive-shadow))
         (asked (concat (hive-permission-mark prompt)
                        (propertize (hive-human-label prompt) 'face 'hive-warning)
                        ;; That of a permission stays as it is.
                        (if (hive-permission-p prompt) question (hive-next--wrapped question)))))
    (concat (if tight (hive-display-flow line asked "  ") (concat line "\n" asked)) "\n")))

(defun hive-next--said (prompt)
  "Return a line with what the agent of PROMPT said last, or \"\"."
  (let ((said (hive-turns-said-line (plist-get prompt :session_id)
                                    (max 20 (- (frame-width) 14)))))
    (if said (concat (propertize (concat "  " said) 'face 'hive-shadow) "\n") "")))

(defun hive-next--long-text (prompt chosen left &optional said tight)
  "Return all of the text of PROMPT; CHOSEN and LEFT as in `hive-next--text'.
With SAID, what its agent said last comes beneath the question.  If
TIGHT, the choices are in few lines; those that only refuse lack their
descriptions."
  (concat
   (hive-next--heading prompt left (hive-text-inert (plist-get prompt :question)) tight)
   (if said (hive-next--said prompt) "")
   (hive-read-below prompt)
   (if tight (hive-next--choices-line prompt chosen t) (hive-next--whole-choices prompt chosen))
   (hive-next--help prompt nil tight)))

(defun hive-next--described (choice chosen)
  "Return the text of CHOICE with its description, wrapped; CHOSEN are labels."
  (let ((description (plist-get (cdr choice) :description)))
    (hive-next--wrapped
     (concat (hive-next--choice-text choice chosen t)
             (if description (concat ": " (hive-text-inert description)) "")))))

(defun hive-next--whole-choices (prompt chosen)
  "Return the choices of PROMPT in full, one a line; CHOSEN are labels."
  (mapconcat (lambda (choice) (concat (hive-next--described choice chosen) "\n"))
             (hive-next--choices prompt) ""))

(defun hive-next--choices-line (prompt chosen &optional described)
  "Return the choices of PROMPT in few lines, or \"\"; CHOSEN are labels.
With DESCRIBED, those that could allow something have descriptions."
  (let ((text ""))
    (dolist (choice (hive-next--choices prompt))
      (setq text (hive-display-flow
                  text
                  (if (and described
                           (hive-permission-allows-p
                            prompt (list :selected (list (plist-get (cdr choice) :label)))))
                      (hive-next--described choice chosen)
                    (hive-next--choice-text choice chosen described))
                  "   ")))
    (if (string-empty-p text) text (concat text "\n"))))

(defun hive-next--short-text (prompt left choices &optional beside more)
  "Return the text for PROMPT as it fits, with CHOICES; LEFT is how many follow.
With BESIDE, a window shows the question, so it is only named, in few
lines.  MORE is as for `hive-read-below'."
  (let ((unread (and (hive-permission-p prompt) (not (hive-display-digest prompt))))
        (question (hive-text-line (plist-get prompt :question)
                                  (if beside (- (frame-width) 12) (* 3 (frame-width))))))
    (concat
     (hive-next--heading prompt left question beside)
     (if beside
         ;; The window may show another part.
         (mapconcat (lambda (note) (concat (hive-text-line note (1- (frame-width))) "\n"))
                    (last (hive-read-notes prompt)) "")
       (hive-read-below prompt (frame-width) more))
     (if (and unread (not beside))
         (propertize
          (hive-words "Too long to show here.  Denying works at once; allowing opens it first.\n") 'face 'hive-warning)
       "")
     choices
     (hive-next--help prompt (cond ((and beside unread) (hive-words "SPC, DEL scroll (to its end before you allow it)"))
                                   (beside (hive-words "SPC, DEL scroll"))
                                   ((or (length> (plist-get prompt :question) (length question))
                                        (string-search (hive-mark "…") choices))
                                    (hive-words "SPC show all of it")))
                      beside))))

;;;; Several questions that are alike

(defun hive-next--batch-text (batch chosen left)
  "Return the text for BATCH; CHOSEN and LEFT as in `hive-next--text'.
Permissions are shown in full, and questions as far as they fit."
  (let* ((prompt (car batch))
         (text (lambda (width choices)
                 (concat
                  (propertize
                   (hive-words "%s: these keys answer %s" (hive-batch-heading batch) (hive-batch-all batch))
                   'face 'hive-warning)
                  (propertize (concat (if (> left 0) (hive-words 'next-more left) "") "\n")
                              'face 'hive-shadow)
                  (hive-batch-text batch width) choices
                  (hive-next--help prompt (hive-words "* first only")))))
         (whole (funcall text nil (hive-next--whole-choices prompt chosen))))
    (cond ((hive-permission-p prompt) (propertize whole 'hive-whole t))
          ((hive-display-fits-p whole) whole)
          (t (funcall text (frame-width) (hive-next--choices-line prompt chosen))))))

(defun hive-next--batch (waiting)
  "Return the first of WAITING, and those that can be answered together with it."
  (or (hive-batch-fitting (hive-prompts-alike (car waiting) (cdr waiting))
                          (lambda (batch)
                            (hive-display-fits-p (hive-next--batch-text batch nil (length waiting)))))
      (list (car waiting))))

;;;; Dealing with one question, or with several

(defconst hive-next--skip '(?\t tab) "The keys that skip a question.")
(defconst hive-next--forward '(?\s) "The keys that scroll the question in a side window.")
(defconst hive-next--back '(?\d backspace ?\S-\s) "The keys that scroll it back.")

(defun hive-next--handle (batch left)
  "Let the human deal with BATCH; LEFT is a function: how many questions follow.
BATCH is a list of one question, or of several that are alike.  Return
nil to leave, or a cons of what they did (answered, skip, snooze or
cancel) and the questions to which they did it.  If some of BATCH are
settled elsewhere, say so, and return a cons of settled and these."
  (mapc #'hive-respond-claim batch)
  (let* ((prompt (car batch))
         (shown batch)
         (choices (hive-next--choices prompt))
         (several (hive-rpc-true-p prompt :multi_select))
         (free (hive-rpc-true-p prompt :allow_free_text))
         (chosen nil) (done nil) (new t))
    (unwind-protect
        (while (not (or done (setq done (hive-next--settled shown))))
          (let ((now (mapcar #'hive-next--now shown)))
            ;; A key may be on its way that was meant without the new note.
            (unless (equal (hive-values :notes now) (hive-values :notes shown))
              (setq new hive-next--parting)
              (mapc #'hive-respond-claim now))
            (setq shown now))
          (let* ((others (funcall left))
                 (text (hive-next--text shown chosen (+ others (- (length batch) (length shown)))))
                 (text (if (and (cdr batch) (null (cdr shown)))
                           (hive-next--add-key text (hive-words "* %s" (hive-batch-all batch)))
                         text))
                 (key (hive-keys-read text new hive-next--skip (hive-next--news shown)
                                      (lambda () (/= others (funcall left)))))
                 (option (cdr (assq key choices)))
                 (label (plist-get option :label)))
            (when (and (not (memq key '(nil cut hive-stale))) (get-text-property 0 'hive-whole text))
              (mapc #'hive-display-whole shown))
            ;; Toggling an option changes nothing else on the screen.
            (setq new (not (or (eq key 'hive-stale) (and option several))))
            (condition-case nil
                (cond
                 ((memq key '(nil hive-stale)))
                 ((eq key 'cut) (hive-next--show shown) (setq done 'leave))
                 ((plist-get option :template)
                  (setq done (hive-next--send-template shown (plist-get option :template) chosen)))
                 ((and (eq key ?+) (plist-get prompt :options))
                  (setq done (hive-next--with-words shown text chosen)))
                 ((and option several)
                  (setq chosen (if (member label chosen) (remove label chosen)
                                 (append chosen (list label)))))
                 (option (setq done (hive-next--send shown (list label))))
                 ((memq key '(?\r ?\n return))
                  (cond (chosen (setq done (hive-next--send shown chosen)))
                        (several (hive-next--say
                                  (hive-words "Choose an option first, or press e to type an answer")))
                        (free (setq done (hive-next--own-words shown)))
                        (t (hive-next--say (hive-words "This question accepts only its options")))))
                 ((and free (eq key ?e))
                  (setq done (if chosen (hive-next--comment shown chosen) (hive-next--own-words shown))))
                 ((and (cdr batch) (eq key ?*))
                  (setq shown (if (cdr shown) (list prompt) batch)))
                 ((memq key hive-next--skip) (setq done 'skip))
                 ((memq key hive-next--forward) (setq new (hive-next--scroll (car shown) nil)))
                 ((memq key hive-next--back) (setq new (hive-next--scroll (car shown) t)))
                 ((eq key ?u) (setq done (hive-next--undo)))
                 ((eq key ?s) (mapc #'hive-snooze-prompt shown) (setq done 'snooze))
                 ((and (eq key ?C) (hive-prompt-ended-p prompt))
                  (setq done (cons 'cancel (hive-cancel-ended))))
                 ((eq key ?o) (hive-next--show shown) (setq done 'leave))
                 ((eq key ??) (setq new t) (hive-next--show-keys shown))
                 ((and (eq key ?A) (hive-permission-of-call-p prompt)) (hive-rule-for prompt) (setq done 'leave))
                 ((memq key '(?q ?\e ?\C-g escape)) (setq done 'leave))
                 (t (setq done (hive-next--stray key))))
              ;; In a minibuffer, C-g goes back to the question.
              (quit (setq new t)))))
      ;; Also if an error ends this.
      (hive-next--remove-window prompt)
      (mapc #'hive-respond-release batch))
    (cond ((consp done) done)
          ((not (eq done 'leave)) (cons done shown)))))

;;;;; The meanings of the keys

(defconst hive-next--meanings
  '(("1 …" "answer with this option; where several may be chosen, choose it or not")
    ("RET" "answer in your own words; where several may be chosen, send them")
    ("e" "answer in your own words, together with the options that are chosen")
    ("+" "then the key of an option: answer with it and with your own words")
    ("SPC" "show the whole question in a side window, and scroll it")
    ("DEL" "scroll it back")
    ("TAB" "skip the question")
    ("s" "snooze it")
    ("*" "questions shown together: show only the first; again: show all of them")
    ("u" "take your last answer back while it is delayed; later: correct it")
    ("o" "quit, and open the question in a buffer")
    ("A" "a client's permission: quit, and show the rule that would allow it")
    ("C" "the session has ended: cancel all questions of ended sessions")
    ("q" "quit; any key that types nothing, such as C-x, quits and does its work"))
  "The meaning of each key, in lines of less than 80 columns.")

(defun hive-next--show-keys (shown)
  "Show what the keys do in place of SHOWN, until a key is pressed.
Windows are left alone, unless the echo area has no room."
  (let ((key (hive-keys-read
              (concat (mapconcat (pcase-lambda (`(,key ,meaning))
                                   (concat (propertize (format " %-3s " (hive-mark key)) 'face 'hive-next-key)
                                           " " (hive-words meaning) "\n"))
                                 hive-next--meanings "")
                      (propertize (hive-words "Any key goes back to the question") 'face 'hive-shadow))
              nil nil (hive-next--news shown))))
    (when (eq key 'cut) (describe-function #'hive-next))))

;;;;; The side window

;; Below it the question shrinks it; while a key is dealt with, it is as large as
;; it was before.  So it is scrolled by what it displayed when the key was pressed.

(defvar hive-next--side nil
  "The side window, and where what it displayed began and ended, a list.")

(defun hive-next--side-window (prompt)
  "Return the window that displays PROMPT in full, or nil."
  (let ((buffer (hive-prompt-find-buffer prompt)))
    (and buffer (get-buffer-window buffer))))

(defun hive-next--note-side ()
  "Note what the side window displays now."
  (let ((window (car hive-next--side)))
    (when (window-live-p window)
      (setq hive-next--side (with-current-buffer (window-buffer window)
                              (list window (window-start window) (hive-display-stop window)))))))

(defun hive-next--turn (back)
  "Scroll the side window, to what follows what it displayed, or BACK."
  (pcase-let ((`(,window ,start ,stop) hive-next--side))
    (with-selected-window window
      (let ((lines (count-screen-lines start stop)))
        (goto-char (if back start stop))
        ;; One line stays, unless there are only a few.
        (vertical-motion (if back (- 1 lines) (if (< lines 10) 0 -1)))
        (unless (eobp) (set-window-start window (point)))))))

(defun hive-next--scroll (prompt back)
  "Display PROMPT in full in a side window; if it is there, scroll it.
With BACK, scroll it back.  Return nil."
  (let ((window (hive-next--side-window prompt)))
    (if (not window)
        (let ((buffer (hive-prompt-buffer prompt)))
          ;; Scrolling means reading, so unfold everything.
          (with-current-buffer buffer (hive-fold-show-all))
          (when-let* ((window (display-buffer buffer '((display-buffer-pop-up-window display-buffer-use-some-window)
                                                       (inhibit-same-window . t)))))
            (setq hive-next--side (list window))
            (hive-next--heighten window)
            ;; The echo area has what is above it.
            (set-window-start window (with-current-buffer buffer (hive-text-part-begin 'question)))))
      (unless (eq window (car hive-next--side))
        (setq hive-next--side (list window))
        (hive-next--note-side))
      (hive-next--turn back))
    ;; No command ends here, so nothing else notes what is displayed.
    (hive-display-record)
    nil))

(defun hive-next--heighten (window)
  "Let WINDOW have the lines that the others above and below can do without.
The echo area will take much of it."
  (let* ((window-min-height hive-display-window-lines)
         (lines (window-max-delta window nil nil nil t)))
    ;; The only window of a frame cannot be resized.
    (unless (zerop lines) (window-resize window lines))))

(defun hive-next--remove-window (prompt)
  "Remove the side window with PROMPT, unless the human went there."
  (let ((window (hive-next--side-window prompt)))
    (when (and window (not (eq window (selected-window))))
      (quit-window nil window))))

;;;;; Answering

(defun hive-next--now (prompt)
  "Return PROMPT as it is now."
  (or (hive-model-prompt (plist-get prompt :ask_id)) prompt))

(defun hive-next--news (batch)
  "Return a function for what is shown below the text of BATCH.
Its value is nil once that text is out of date: one of them is settled,
its agent goes on without it, or has added a note."
  (let* ((state (lambda ()
                  (mapcar (lambda (prompt)
                            (let ((now (hive-next--now prompt)))
                              (list (hive-respond-settled-since prompt)
                                    (hive-prompt-blocked-p now) (plist-get now :notes))))
                          batch)))
         (shown (funcall state)))
    (lambda () (and (equal shown (funcall state)) (hive-next--delayed)))))

(defun hive-next--settled (batch)
  "Show which of BATCH were settled elsewhere while they were shown.
Keys typed in the meantime are dropped.  Return a cons of settled and
these questions, or nil."
  (when-let* ((settled (cl-remove-if-not #'hive-respond-settled-since batch)))
    (hive-next--dropped-p
     (mapconcat (lambda (prompt)
                  (hive-words "%s's question is already %s: %s" (hive-text-title prompt 40)
                              (hive-respond-settled-since prompt) (hive-text-line (plist-get prompt :question) 60)))
                settled "\n")
     nil hive-next--parting)
    (cons 'settled settled)))

(defun hive-next--delayed ()
  "Return a line on the answer that can be taken back, or \"\"."
  (let ((delayed (hive-amend-delayed-text "u")))
    (if delayed (propertize (concat "\n" delayed) 'face 'hive-warning) "")))

(defun hive-next--with-words (batch text chosen)
  "Read an option of BATCH and words to go with it, and answer with both.
TEXT is what is shown.  The labels CHOSEN are part of the answer, too."
  (let* ((key (hive-keys-read (concat text (propertize (hive-words "\nPress the key of the option to comment on; any other key goes back") 'face 'hive-warning))
                              nil nil (hive-next--news batch)))
         (label (plist-get (cdr (assq key (hive-next--choices (car batch)))) :label)))
    (cond ((eq key 'cut) (hive-next--open batch))
          (label
           (hive-next--comment batch (if (member label chosen) chosen (append chosen (list label))))))))

(defun hive-next--comment (batch labels)
  "Answer BATCH with the options LABELS and words that the human types.
Return nil, to go back, if these are blank."
  (if (hive-next--unread-p batch (list :selected labels))
      (hive-next--open batch)
    (hive-read-with-draft (hive-next--question batch)
      (lambda ()
        (let ((words (hive-next--read batch
                       (hive-words 'with-words (hive-text-line (string-join labels ", ") 40)))))
          (unless (string-blank-p words)
            (hive-next--send batch labels words))))
      nil labels)))

(defun hive-next--undo ()
  "Take back the last answer, or correct it.
Return a cons of undone and the questions that are pending again, or nil."
  (condition-case oops
      (let ((delayed (hive-amend-delayed)))
        (if delayed (cons 'undone (hive-amend-take-back delayed))
          ;; The question of this buffer is another one.
          (ignore (hive-amend-recent))))
    (user-error (hive-next--say (error-message-string oops)))))

(defun hive-next--linger (text)
  "Show TEXT, and while an answer is delayed, take it back if u is pressed.
q ends the waiting.  Another key that types something does nothing: it
was meant for the previous question, and must not be typed into the
buffer of the human.  Any other key ends the waiting and does what it
usually does.  Return as `hive-next--undo'."
  (let ((key nil))
    (while (and (null key) (hive-amend-delayed))
      (let ((message-log-max nil))
        (message "%s" (concat text (hive-next--delayed)
                              (propertize (hive-words ", q ends the waiting") 'face 'hive-shadow))))
      (setq key (hive-next--read-event 1))
      (when (and (hive-next--typed-p key) (not (memq key '(?u ?q)))) (setq key nil)))
    (if (eq key ?u)
        (hive-next--undo)
      (message "%s" text)
      (unless (memq key '(nil ?q ?\e ?\C-g escape)) (hive-keys-give-back key))
      nil)))

(defun hive-next--read-event (seconds)
  "Return the key that is pressed within SECONDS, or nil.
Like `read-key', it knows the keys that a terminal sends as sequences."
  (when-let* ((event (read-event nil nil seconds)))
    (push event unread-command-events)
    (let ((key (read-key)))
      (setq hive-next--raw (this-single-command-raw-keys))
      (hive-next--whole key hive-next--raw))))

(defun hive-next--typed-p (key)
  "Return non-nil if KEY types something: a character, RET, TAB or DEL."
  (or (and (characterp key) (>= key ?\s))
      (memq key '(?\r ?\n return ?\t tab backspace ?\S-\s))))

(defun hive-next--unread-p (batch answer)
  "Return non-nil if ANSWER could permit what was not displayed of BATCH."
  (cl-some (lambda (prompt) (hive-permission-unread-p prompt answer)) batch))

(defun hive-next--show (batch)
  "Show the questions of BATCH in full, in a buffer."
  (if (cdr batch) (hive-batch-show batch) (hive-prompt-show (car batch))))

(defun hive-next--open (batch)
  "Show BATCH in full, because it must be read before it is allowed."
  (hive-next--show batch)
  (hive-say "Read it to the end, then press the number of your answer")
  'leave)

(defun hive-next--say (text)
  "Show TEXT for a second or until a key is pressed; return nil."
  (message "%s" text)
  (ignore (sit-for 1)))

(defun hive-next--stray (key)
  "Deal with KEY, which does nothing here: leave, and give it to Emacs.
Return nil to stay if KEY types something, such as the key of an option
that this question lacks."
  (if (hive-next--typed-p key)
      (hive-next--say (hive-words "%s does nothing here; q quits" (key-description (vector key))))
    (hive-keys-give-back key)
    'leave))

(defun hive-next--confirm (batch answer description)
  "Let the human confirm ANSWER to BATCH if need be, and return answered.
DESCRIPTION is that of its option, or nil.  Return leave if they press
a key that leaves, and nil if they go back."
  (if (not (cl-some (lambda (prompt) (hive-respond-confirmed-p prompt answer)) batch))
      'answered
    (let ((key (hive-keys-read (hive-next--confirm-text batch (plist-get answer :decision) description)
                               t nil (hive-next--news batch))))
      (cond ((memq key '(?y ?\r ?\n return)) 'answered)
            ((memq key '(nil ?n ?q ?\e ?\C-g escape)) nil)
            ((eq key 'cut) (hive-next--open batch))
            (t (hive-next--stray key))))))

(defun hive-next--confirm-text (batch decision description)
  "Return the text that asks to confirm DECISION about BATCH.
DESCRIPTION is that of its option, or nil."
  (let* ((prompt (car batch))
         (said (lambda (width)
                 (concat (hive-next--wrapped
                          (concat (propertize (hive-text-line decision width) 'face 'hive-next-chosen)
                                  (if description (concat ": " (hive-text-line description width)) "")))
                         (propertize (if (cdr batch) (hive-words "\nRET or y gives this answer to %s   n goes back"
                                                                  (hive-batch-all batch))
                                       (hive-words "\nRET or y gives this answer   n goes back"))
                                     'face 'hive-shadow))))
         (whole (concat (hive-batch-text batch) (funcall said nil))))
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

(defun hive-next--give (batch answer)
  "Put ANSWER to each question of BATCH into the outbox."
  (if (cdr batch) (hive-batch-send batch answer) (hive-respond-send (car batch) answer))
  ;; The message says that it comes late.
  (when (cl-some #'hive-respond-settled-since batch) (sit-for hive-next--parting)))

(defun hive-next--send (batch labels &optional words)
  "Answer BATCH with the options LABELS and WORDS, after confirmation if needed."
  (hive-next--send-answer batch (hive-read-chosen labels words)
                          (or words (hive-next--description (car batch) labels))))

(defun hive-next--send-answer (batch answer &optional description)
  "Answer BATCH with ANSWER, after confirmation with DESCRIPTION if needed.
If that could permit what was not displayed, open BATCH instead."
  (if (hive-next--unread-p batch answer)
      (hive-next--open batch)
    (let ((done (hive-next--confirm batch answer description)))
      (when (eq done 'answered) (hive-next--give batch answer))
      done)))

(defun hive-next--send-template (batch text chosen)
  "Answer BATCH with TEXT, a template, or with CHOSEN labels and TEXT."
  (let ((answer (hive-read-understood (car batch) text)))
    (cond (chosen (hive-next--send batch chosen text))
          ((plist-get answer :selected)
           (hive-next--send batch (append (plist-get answer :selected) nil) (plist-get answer :comment)))
          (t (hive-next--send-answer batch answer)))))

(defun hive-next--question (batch)
  "Return the one question of BATCH, or one in place of all of it."
  (if (cdr batch) (hive-batch-question batch) (car batch)))

(defun hive-next--read (batch line)
  "Show BATCH, and read words for an answer to it with the prompt LINE."
  (hive-read-with-details (hive-next--question batch)
    (lambda () (hive-read-words line hive-read-typed))
    (hive-next--side-window (car batch))))

(defun hive-next--own-words (batch)
  "Answer BATCH with text that the human types; blank text skips it."
  (let ((prompt (hive-next--question batch)))
    (hive-read-with-draft prompt
      (lambda ()
        (let* ((text (hive-next--read batch (hive-read-prompt-line prompt)))
               ;; Free text only ever refuses a permission of a client.
               (answer (if (hive-permission-p (car batch)) (list :decision text)
                         (hive-read-understood (car batch) text))))
          (if (hive-respond-empty-p answer)
              'skip
            (hive-next--give batch answer)
            'answered))))))

;;;; The command

(defun hive-next--following (passed)
  "Return the questions to answer except PASSED, a list of ids."
  (cl-remove-if (lambda (prompt) (member (plist-get prompt :ask_id) passed))
                (hive-prompts-offered)))

;;;###autoload
(defun hive-next ()
  "Answer the pending questions one by one, the most urgent first.
Each option has a key: 1 to 9, then letters.  If you may choose
several, the keys toggle and RET sends; otherwise RET lets you type an
answer, and so does e in both cases; + and the key of an option add
words to that option.  Options that you have chosen are sent with your
words.  TAB skips a question, s snoozes it, q quits.
SPC shows all of the question in a side window and scrolls it, DEL or
S-SPC scrolls back.  o quits too, and opens the question in a
buffer, where \\<hive-prompt-mode-map>\\[hive-prompt-next-question] goes to the next one.  u takes your last
answer back while it is delayed (see `hive-undo-seconds'), and corrects it
later.  A quits as well, and shows the rule that would allow a
client's permission from now on.  ? shows the keys.  Questions of sessions
that have ended come last; C cancels all of them.

Questions that ask for the same thing are shown together, with everything
that differs, and a key answers all of them.  * shows only the first of
them, and pressed again, all of them.

A key counts only after its question has been shown for a moment, and
only while it is on the screen; others are ignored, except TAB: to skip
several questions, press it as fast as you like.  An answer that
may grant a permission is delayed for `hive-undo-seconds', or if that is
0, confirmed with RET or y.  If a permission does not fit here in full, a
key that may grant it opens its buffer instead, until SPC has shown all
of it; where not even the keys fit, the buffer opens at once.  Another
key that types something does nothing; any other key, such as \`C-x',
quits, and does what it usually does."
  (interactive)
  (when executing-kbd-macro
    (hive-fail "A keyboard macro cannot answer questions, because nobody would have read them"))
  (let ((passed nil) (skipped nil) (waiting (hive-next--following nil)) (answered 0))
    (unless (or waiting (hive-prompts)) (hive-sidecar-demand))
    (unless waiting (hive-say 'none-pending (hive-respond-others)))
    (while waiting
      (let* ((batch (hive-next--batch waiting))
             (ids (append (hive-values :ask_id batch) passed))
             (done (hive-next--handle batch (lambda () (length (hive-next--following ids)))))
             (back (and (eq (car done) 'undone) (cdr done))))
        (unless back (setq passed (append (hive-values :ask_id (cdr done)) passed)))
        (when (eq (car done) 'skip) (setq skipped (append (hive-values :ask_id (cdr done)) skipped)))
        (when (eq (car done) 'answered) (setq answered (+ answered (length (cdr done)))))
        (setq waiting (and done (hive-next--following passed)))
        (when (and done (null waiting) (null back))
          (setq back (cdr (hive-next--linger (hive-next--summary answered skipped)))))
        (when back
          ;; A question whose answer was taken back is asked again at once.
          (setq passed (cl-set-difference passed (hive-values :ask_id back) :test #'equal)
                answered (max 0 (- answered (length back)))
                waiting (append back (hive-next--following (append (hive-values :ask_id back) passed)))))))))

(defun hive-next--summary (answered skipped)
  "Return how many questions were ANSWERED, and how many of SKIPPED are pending.
SKIPPED is a list of ids."
  (let ((pending (length (cl-intersection skipped (hive-values :ask_id (hive-prompts-offered))
                                          :test #'equal))))
    (cond ((zerop (+ answered pending)) (hive-words "No other questions are pending"))
          ((zerop pending) (hive-words "%d answered; no other questions" answered))
          ((zerop answered) (hive-words "%d skipped, still pending" pending))
          (t (hive-words "%d answered; %d skipped, still pending" answered pending)))))

(defun hive-next-can-p (prompt)
  "Return non-nil if PROMPT can be answered with the keys of `hive-next' now."
  (and (hive-prompt-unanswered-p prompt)
       (not (hive-prompt-in-terminal-p prompt))
       (not executing-kbd-macro)))

(defun hive-next-one (prompt)
  "Let the human answer PROMPT, and only that, with the keys of `hive-next'."
  (let ((done (hive-next--handle (list prompt) (lambda () 0))))
    (message "%s" (hive-next--delayed))
    done))

(provide 'hive-next)
;;; hive-next.el ends here
