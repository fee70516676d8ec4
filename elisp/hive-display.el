;;; hive-display.el --- What was displayed before it is allowed  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Only what was displayed is approved (design, invariant 13).  The sidecar
;; sends each permission with a digest of its whole text.  Emacs returns the
;; digest with an answer that may allow something, and it knows the digest only
;; once all of the text was on the screen: in the echo area, if all of it fits
;; there, or in a buffer that was displayed from its beginning to its end.

;;; Code:

(require 'cl-lib)
(require 'hive-messages)
(require 'hive-rpc)
(require 'hive-text)

;;;; Displayed permissions

(defvar hive-display--whole (make-hash-table :test #'equal)
  "The digests of the permissions that were displayed in full, by id.")

(defun hive-display-whole (prompt)
  "Record that all of the text of PROMPT, a permission, was displayed."
  (when (plist-get prompt :digest)
    (puthash (plist-get prompt :ask_id) (plist-get prompt :digest) hive-display--whole)))

(defun hive-display-digest (prompt)
  "Return the digest of PROMPT if all of its text was displayed, or nil."
  (let ((digest (plist-get prompt :digest)))
    (and digest
         (equal digest (gethash (plist-get prompt :ask_id) hive-display--whole))
         digest)))

;;;; Permissions

(declare-function hive-prompt-show "hive-prompt")

;; The answer to a permission makes an agent act.  So a permission is labelled
;; wherever it is answered.  An answer that may allow something is taken only
;; once all of the permission's text was displayed.

(defun hive-permission-p (prompt)
  "Return non-nil if PROMPT asks for a permission."
  (equal (plist-get prompt :kind) "permission"))

(defun hive-permission-of-client-p (prompt)
  "Return non-nil if a client, not its agent, asks for the permission PROMPT.
Nothing waits for an answer once it is closed."
  (and (hive-permission-p prompt) (hive-rpc-true-p prompt :dialog)))

(defun hive-permission-of-call-p (prompt)
  "Return non-nil if a client asks for the permission PROMPT of one call.
Rules can answer it, but no plan."
  (and (hive-permission-of-client-p prompt)
       (hive-find :label "Allow" (plist-get prompt :options))))

(defun hive-permission-mark (prompt)
  "Return the label of PROMPT if it asks for a permission, or \"\"."
  (if (hive-permission-p prompt)
      (propertize (concat (hive-words "PERMISSION") " ") 'face 'hive-warning)
    ""))

(defun hive-permission-refuses-p (prompt label)
  "Return non-nil if choosing LABEL in PROMPT permits nothing."
  (cl-some (lambda (option) (hive-rpc-true-p option :refuses))
           (hive-filter :label label (plist-get prompt :options))))

(defun hive-permission-allows-p (prompt answer)
  "Return non-nil if ANSWER to PROMPT could permit something.
ANSWER is a plist of :decision and :selected.  In the dialog of an
agent, free text only denies."
  (and (hive-permission-p prompt)
       (let ((selected (append (plist-get answer :selected) nil)))
         (if selected
             (not (cl-every (lambda (label) (hive-permission-refuses-p prompt label))
                            selected))
           (not (hive-rpc-true-p prompt :dialog))))))

(defun hive-permission-unread-p (prompt answer)
  "Return non-nil if ANSWER to PROMPT could permit what was not displayed."
  (and (hive-permission-allows-p prompt answer)
       (not (hive-display-digest prompt))))

(defun hive-permission-demand (prompt answer)
  "Signal a `user-error' if ANSWER could permit what was not displayed.
Then show PROMPT in a buffer, where its whole text can be read."
  (when (hive-permission-unread-p prompt answer)
    (unless (hive-display-here-p prompt) (hive-prompt-show prompt))
    (hive-fail
     "Not sent: scroll through all of it without skipping, then answer again")))

;;;; The echo area

(defconst hive-display-window-lines 1
  "To how many lines the other windows may shrink for what is drawn.
The user's `window-min-height' would keep four of each; they grow back.")

(defun hive-display-room ()
  "Return how many columns and lines the echo area may have, as a cons."
  (let* ((window (minibuffer-window))
         (frame (window-frame window))
         (others (frame-root-window frame))
         (window-min-height hive-display-window-lines))
    (cons (frame-width frame)
          (if (eq frame (selected-frame))
              ;; The other windows shrink to their minimum heights only.
              (- (+ (window-height window) (window-total-height others))
                 (window-min-size others))
            ;; A frame of its own does not grow.
            (window-height window)))))

(defun hive-display-flow (text part gap &optional indent)
  "Return TEXT followed by PART, which is not broken over lines.
GAP is what is between two parts on one line, INDENT begins a new line."
  (let ((last (car (last (split-string text "\n")))))
    (concat text
            (cond ((string-empty-p last) "")
                  ;; The last column may be a continuation mark.
                  ((< (string-width (concat last gap part)) (car (hive-display-room))) gap)
                  (t (concat "\n" indent)))
            part)))

(defun hive-display-fits-p (text)
  "Return non-nil if the echo area certainly displays all of TEXT.
That is the number of further lines for which there is room.
Its lines are measured as the frame of the echo area draws them: a
character that the terminal cannot show takes six columns, and a font
may be higher than that of the frame."
  (let* ((room (hive-display-room))
         (frame (window-frame (minibuffer-window)))
         (line (frame-char-height frame))
         ;; Two lines are left for a remark and for rounding.
         (left (* line (- (cdr room) 2)))
         (lines (split-string text "\n")))
    (and (<= (* line (length lines)) left)
         (cl-loop for (width . height) in (hive-display--sizes lines frame)
                  for text in lines
                  for columns = (- (car room) (hive-display--lost text))
                  do (setq left (- left (* (max line height)
                                           (max 1 (ceiling width (* (max 1 columns)
                                                                    (frame-char-width frame)))))))
                  always (>= left 0)
                  finally return (floor left line)))))

(defun hive-display--lost (line)
  "Return how many columns a row of LINE may leave empty at its end.
One is a continuation mark; what does not fit before it goes to the
next row: at most \"\\U01F41D\"."
  (if (string-match-p "[^ -~]" line) 8 1))

(defconst hive-display--longest 20000
  "The longest line that is measured, in characters.
No echo area has room for more.")

(defconst hive-display--widest 10000000 "The width at which measuring stops, in pixels.")

(defun hive-display--sizes (lines frame)
  "Return the width and height of each of LINES on FRAME, in pixels."
  (with-temp-buffer
    (setq-local truncate-lines t
                display-line-numbers nil
                line-prefix nil
                wrap-prefix nil
                ;; Thousands of brackets would take long, and it changes no width.
                bidi-inhibit-bpa t
                ;; As in the echo area.
                bidi-paragraph-direction nil)
    (mapcar (lambda (line)
              (erase-buffer)
              (insert (substring line 0 (min (length line) hive-display--longest)))
              (hive-display--size frame))
            lines)))

(defun hive-display--size (frame)
  "Return the width and height of the current buffer on FRAME, in pixels."
  (if (fboundp 'buffer-text-pixel-size)
      (buffer-text-pixel-size nil (frame-selected-window frame) hive-display--widest)
    (save-window-excursion
      (let ((window (frame-selected-window frame)) (buffer (current-buffer)))
        (set-window-dedicated-p window nil)
        (set-window-buffer window buffer)
        (window-text-pixel-size window nil nil hive-display--widest)))))

(defconst hive-display--echo '(" *Echo Area 0*" " *Echo Area 1*") "The buffers of the echo area.")

;; Text that fits by measure may still not be drawn in full: a window may refuse
;; to shrink, and another message, another frame or another size may come at any
;; time.  So may a child frame, in which packages show completions.

(defun hive-display-draw (text)
  "Show TEXT in the echo area; return nil if not all of it is on the screen.
Otherwise return a function that returns non-nil as long as it is."
  (let ((message-log-max nil)
        (window-min-height hive-display-window-lines)
        ;; Otherwise an active minibuffer shows it after its own text, in one line.
        (set-message-function nil))
    (dolist (name hive-display--echo)
      ;; A screen of brackets would take it seconds (`hive-text-guard').
      (hive-in-buffer name (setq-local bidi-inhibit-bpa t)))
    (message "%s" text)
    (redisplay t)
    (let* ((window (minibuffer-window))
           (frame (selected-frame))
           (width (window-body-width window t))
           (height (hive-display--height text window))
           (there-p (lambda ()
                      (and (equal text (current-message))
                           (eq frame (selected-frame))
                           (= width (window-body-width window t))
                           (<= height (window-body-height window t))
                           (not (hive-display--covered-p window))))))
      (and height (funcall there-p) there-p))))

(defun hive-display--covered-p (window)
  "Return non-nil if a child frame covers part of WINDOW."
  (pcase-let ((`(,left ,top ,right ,bottom) (window-pixel-edges window)))
    (cl-some (lambda (frame)
               (and (eq (frame-parent frame) (window-frame window))
                    (frame-visible-p frame)
                    (pcase-let ((`(,x . ,y) (frame-position frame)))
                      (and (< x right) (> (+ x (frame-outer-width frame)) left)
                           (< y bottom) (> (+ y (frame-outer-height frame)) top)))))
             (frame-list))))

(defun hive-display--height (text window)
  "Return how high TEXT is as WINDOW draws it, in pixels.
Return nil if it is not in the echo area, whose window that is."
  (cl-loop for name in hive-display--echo
           for buffer = (get-buffer name)
           when (and buffer (equal text (with-current-buffer buffer (buffer-string))))
           return (if (fboundp 'buffer-text-pixel-size)
                      (cdr (buffer-text-pixel-size buffer window))
                    ;; To measure pixels, an older Emacs would need the text in
                    ;; the window of a minibuffer, which could not be quit then.
                    (with-current-buffer buffer
                      (save-excursion
                        (goto-char (point-min))
                        (* (frame-char-height (window-frame window))
                           (1+ (vertical-motion (buffer-size) window))))))))

;;;; Buffers

;; A position counts as displayed if redisplay ended with it in a window, and
;; everything before it was displayed, too: a jump to the end leaves a gap.

(defvar hive-display--buffers nil "The buffers with a text not yet displayed in full.")

(defvar-local hive-display--prompt nil "The permission whose text this buffer has.")
(defvar-local hive-display--others nil "Further permissions whose text is in its text.")
(defvar-local hive-display--text nil "Its text.")
(defvar-local hive-display--begin nil "Where its text begins, a marker.")
(defvar-local hive-display--seen 0 "How much of it was displayed without a gap, in characters.")

(defun hive-display-track (prompt begin end &optional others)
  "Record when the text of PROMPT, between BEGIN and END, was displayed.
PROMPT is a permission; the text is in the current buffer.  OTHERS are
further permissions, whose text it has as well."
  (let ((text (buffer-substring-no-properties begin end)))
    ;; Printing the same text again leaves it displayed.
    (unless (equal text hive-display--text) (setq hive-display--seen 0))
    (setq hive-display--prompt prompt
          hive-display--others others
          hive-display--text text
          hive-display--begin (copy-marker begin))
    (unless (cl-every #'hive-display-digest (cons prompt others))
      (cl-pushnew (current-buffer) hive-display--buffers)
      (add-hook 'post-command-hook #'hive-display-record)
      ;; Text that arrives while no command runs is displayed, too.
      (hive-later 0 #'hive-display-record))))

(defun hive-display-here-p (prompt)
  "Return non-nil if the current buffer has the text of PROMPT."
  (equal (plist-get prompt :ask_id) (plist-get hive-display--prompt :ask_id)))

(defun hive-display-open-p (buffer)
  "Return non-nil if BUFFER has a text that was not displayed in full."
  (and (buffer-live-p buffer)
       (and-let* ((prompt (buffer-local-value 'hive-display--prompt buffer)))
         (not (cl-every #'hive-display-digest
                        (cons prompt (buffer-local-value 'hive-display--others buffer)))))))

(defun hive-display-record ()
  "Note which texts are on the screen now."
  (setq hive-display--buffers (cl-remove-if-not #'hive-display-open-p hive-display--buffers))
  (cond ((null hive-display--buffers)
         (remove-hook 'post-command-hook #'hive-display-record))
        ;; With keys waiting, nothing is displayed before they are read.
        ((and (not noninteractive) (redisplay))
         (with-demoted-errors "[hive] %S"
           (mapc #'hive-display--record hive-display--buffers)))))

(defun hive-display-frame-p (frame)
  "Return non-nil if a human can see FRAME.
A terminal shows one of its frames, and a daemon has one that nobody
sees."
  (and (eq t (frame-visible-p frame))
       (memq (tty-top-frame frame) (list nil frame))
       (not (and (daemonp) (equal "initial_terminal" (terminal-name frame))))))

(defun hive-display-visible-p (buffer)
  "Return non-nil if BUFFER is in a window on a frame that a human can see."
  (cl-some (lambda (window) (hive-display-frame-p (window-frame window)))
           (get-buffer-window-list buffer nil 'visible)))

(defun hive-display--shown-p (window)
  "Return non-nil if a human can see whole lines in WINDOW."
  (let ((frame (window-frame window)))
    (and (hive-display-frame-p frame)
         (not (hive-display--covered-p window))
         (zerop (window-hscroll window))
         (not truncate-lines)
         (or (not truncate-partial-width-windows) (window-full-width-p window))
         (not (buffer-narrowed-p)))))

(defun hive-display--record (buffer)
  "Note which part of the text of BUFFER is in a window."
  (with-current-buffer buffer
    (let* ((begin (marker-position hive-display--begin))
           (end (+ begin (length hive-display--text))))
      (dolist (window (get-buffer-window-list buffer nil 'visible))
        (when (and (hive-display--shown-p window)
                   (<= (window-start window) (+ begin hive-display--seen)))
          (setq hive-display--seen
                (max hive-display--seen
                     (min (- (hive-display-stop window) begin) (- end begin))))))
      (when (= hive-display--seen (- end begin))
        ;; The mode of the buffer is ours, and hides nothing.
        (dolist (prompt (cons hive-display--prompt hive-display--others))
          (unless (eq t (plist-get prompt :context_truncated))
            (hive-display-whole prompt)))))))

(defun hive-display-stop (window)
  "Return where the last line ends that WINDOW displays in full."
  (let ((stop (window-end window)))
    (if (or (<= stop (point-min)) (pos-visible-in-window-p (1- stop) window))
        stop
      (save-excursion
        (goto-char (1- stop))
        (vertical-motion 0 window)
        (point)))))

(provide 'hive-display)
;;; hive-display.el ends here
