;;; hive-text.el --- Text from agents, made harmless  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Author: The Hive contributors
;; Assisted-by: AGENT_NAME:MODEL_VERSION

;;; Commentary:

;; Text from agents is untrusted (design, invariant 12).  Everything that is
;; shown goes through `hive-text-inert' or `hive-text-line', and everything
;; that is sent through `hive-text-sendable'.
;;
;; Also: names of agents, times and ages, and wrapping of long lines.

;;; Code:

(require 'cl-lib)
(require 'hive-messages)
(require 'hive-names)
(require 'iso8601)
(require 'subr-x)

;;;; Wrapping long lines

;; Lines are wrapped between words, and continuation lines are indented like
;; the line.  The text itself does not change.

(defconst hive-text--deepest 16 "The largest indentation of continuation lines, in columns.")

(defconst hive-text--right-to-left "[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC]")

(defconst hive-text--longest 500
  "The longest right-to-left line that is wrapped between words.
The time that Emacs needs grows with the square of the length: 0.1 s
for 1,000 characters, 3 s for 8,000.")

(defun hive-wrap-words ()
  "Wrap the lines of this buffer between words, in windows of any width."
  (setq-local truncate-lines nil
              truncate-partial-width-windows nil
              word-wrap t))

(defun hive-wrap-heed (beg end)
  "Stop wrapping between words if that is slow for a line in BEG to END."
  (save-excursion
    (goto-char beg)
    (while (and word-wrap (< (point) end))
      (when (and (> (- (line-end-position) (point)) hive-text--longest)
                 (save-excursion
                   (re-search-forward hive-text--right-to-left (line-end-position) t)))
        (setq-local word-wrap nil))
      (forward-line 1))))

(defun hive-wrap-like-lines (beg end)
  "Indent continuation lines between BEG and END like their lines.
A number at the beginning is part of the indentation.  Lines that are
indented already stay so."
  (hive-wrap-heed beg end)
  (save-excursion
    (goto-char beg)
    (while (< (point) end)
      (when (and (not (get-text-property (point) 'wrap-prefix))
                 (looking-at " *\\(?:[0-9] +\\)?"))
        (let ((columns (min hive-text--deepest (- (match-end 0) (match-beginning 0)))))
          (when (> columns 0)
            (put-text-property (point) (line-end-position) 'wrap-prefix
                               (make-string columns ?\s)))))
      (forward-line 1))))

(defun hive-wrap-room ()
  "Return the width of the narrowest window of this buffer, or nil."
  (let ((windows (get-buffer-window-list nil nil t)))
    ;; To measure a window, Emacs selects it, which moves point.
    (when windows (save-excursion (apply #'min (mapcar #'window-max-chars-per-line windows))))))

;;;; Showing text from agents

(defconst hive-text--hidden
  ;; Raw bytes, too, which only Emacs has.
  (concat "[" hive-text-hidden-characters "\x3FFF80-\x3FFFFF]")
  "Characters that a terminal interprets, or hides, instead of printing them.")

(defconst hive-text--mixed
  (mapconcat (lambda (letters)
               (format "[%s][%s]*[%s]" letters hive-text-within-words
                       (string-join (remove letters hive-text-scripts))))
             hive-text-scripts "\\|")
  "Two letters of one word that are of different scripts.")

(defconst hive-text--suspect
  (concat hive-text--hidden "\\|[" (string-join (cdr hive-text-scripts)) "]")
  "What a text may have that must not be shown as it is.")

(defconst hive-text--script
  (let ((table (make-char-table nil)) (number 0))
    (dolist (class (append hive-text-scripts (list hive-text-within-words)) table)
      (let ((chars (append class nil)))
        (while chars
          (let* ((first (pop chars))
                 (last (if (eq (car chars) ?-) (cadr chars) first)))
            (when (eq (car chars) ?-) (setq chars (cddr chars)))
            (set-char-table-range table (cons first last) number))))
      (setq number (1+ number))))
  "The number of each letter's script in `hive-text-scripts'.
What may be between two letters has the number after the last.")

(defun hive-text--reveal (match)
  "Return visible text for the hidden character in MATCH."
  (let ((char (aref match 0)))
    (cond ((< char 32) (string ?^ (logxor char 64)))
          ((= char 127) "^?")
          (t (format "<U+%04X>" char)))))

(defun hive-text-inert (text)
  "Return TEXT without properties and without hidden characters.
Control, bidi and zero-width characters become visible, and so do
letters of another script than the rest of their word; newlines and
tabs stay.  If TEXT is not a string, return the empty string."
  (cond ((not (stringp text)) "")
        ((string-match-p hive-text--suspect text)
         (let ((text (substring-no-properties text)))
           (hive-text--spelled (if (string-match-p hive-text--hidden text) (hive-text--revealed text)
                                 text))))
        (t (substring-no-properties text))))

(defun hive-text--revealed (text)
  "Return TEXT with each hidden character made visible."
  ;; Character by character: with 32,768 hidden ones, a regexp replacement
  ;; takes most of a second, and this 20 ms.
  (let ((shown (make-hash-table)))
    (mapconcat (lambda (char)
                 (or (gethash char shown)
                     (puthash char
                              (let ((one (string char)))
                                (if (string-match-p hive-text--hidden one)
                                    (hive-text--reveal one)
                                  one))
                              shown)))
               text "")))

(defun hive-text--spelled (text)
  "Return TEXT with the letters spelled out that are strangers in their word."
  (let ((case-fold-search nil))
    (if (not (string-match-p hive-text--mixed text))
        text
      ;; In a buffer, because the time to find all words of a long string
      ;; grows with the square of its length.
      (with-temp-buffer
        (insert text)
        (goto-char (point-min))
        (hive-text--spell-words)
        (buffer-string)))))

(defun hive-text--spell-words ()
  "Spell out in this buffer the letters that are strangers in their word.
This is one loop in which nothing is called or made for each word or
character: hostile text has tens of thousands."
  (let* ((table hive-text--script) (others (length hive-text-scripts))
         (counts (make-vector (1+ others) 0))
         (shown (make-hash-table :test #'eq))
         (inhibit-modification-hooks t)
         begin main most script count char left)
    (while (re-search-forward hive-text--mixed nil t)
      (goto-char (match-beginning 0))
      (while (aref table (preceding-char)) (forward-char -1))
      (fillarray counts 0)
      (setq begin (point) main others most 0)
      (while (setq script (aref table (following-char)))
        (setq count (1+ (aref counts script)))
        (aset counts script count)
        ;; Of two that are as frequent, the first is the main one.
        (and (>= count most) (< script others) (or (> count most) (< script main))
             (setq most count main script))
        (forward-char 1))
      (setq left (- (point) begin))
      (goto-char begin)
      (while (> left 0)
        (setq char (following-char) script (aref table char) left (1- left))
        (if (or (eq script main) (eq script others))
            (forward-char 1)
          (delete-char 1)
          (insert (or (gethash char shown)
                      (puthash char (hive-text--reveal (string char)) shown))))))))

(defun hive-text-trimmed (text)
  "Return TEXT without the white space at its end.
`string-trim-right' takes time with the square of a run of white space
within: 16 s for 60,000 blanks."
  (let ((end (length text)))
    (while (and (> end 0) (memq (aref text (1- end)) '(?\s ?\t ?\n ?\r))) (setq end (1- end)))
    (substring text 0 end)))

(defun hive-text-line (text &optional width)
  "Return TEXT as one inert line, at most WIDTH columns wide.
Runs of white space become one space."
  (let* ((text (if (stringp text) text ""))
         ;; An 8,000-character question need not be cleaned for 80 columns.
         (line (if (and width (> (length text) (* 4 width)))
                   (substring text 0 (* 4 width))
                 text)))
    ;; Most lines are fine as they are; a list has thousands, and the
    ;; garbage of cleaning them would be felt.
    (when (string-match-p "[\t\n\r]\\|  \\|\\` \\| \\'" line)
      (setq line (string-trim (replace-regexp-in-string "[ \t\n\r]+" " " line))))
    (setq line (hive-text-inert line))
    (if (and width (> (string-width line) width))
        (truncate-string-to-width line width nil nil "…")
      line)))

(defun hive-text-source-label (thing)
  "Return the label of the source of THING: bg, fork, or nil for main.
Everything that shows a source uses this function, the counterpart of
`sourceLabel' in the sidecar."
  (let ((source (plist-get thing :source)))
    (unless (member source '(nil "main")) (hive-text-line source 6))))

(defun hive-text-agent (thing &optional width)
  "Return the name of the agent of THING, at most WIDTH columns wide.
The label of `hive-text-source-label' comes before it."
  (let ((source (hive-text-source-label thing)))
    (concat (if source (format "[%s] " source) "")
            (hive-text-line (plist-get thing :agent) width))))

(defun hive-text-author (message width)
  "Return the name of the author of MESSAGE, at most WIDTH columns wide.
That of a human is the name under which they posted it.  If its heading
had another name, that comes behind it."
  (let ((as (plist-get message :as_handle)))
    (concat (hive-text-line (or (plist-get message :by) (plist-get message :from_handle)) width)
            (if as (format " (%s)" (hive-words 'mark-as (hive-text-line as width))) ""))))

(defun hive-text-by (answer width)
  "Return who gave ANSWER, a plist with :by, at most WIDTH columns wide.
An answer that Hive did not see a person give is marked."
  (let ((by (hive-text-line (or (plist-get answer :by) "") width)))
    (if (eq (plist-get answer :attested) :json-false) (hive-words 'by-unattested by) by)))

(defun hive-text-value (value width)
  "Return the words for VALUE, a name such as a status, at most WIDTH columns wide.
A name that `hive-messages' has no words for stays as it is."
  (let ((words (and (stringp value)
                    (alist-get (intern-soft (concat "value-" value)) hive-messages))))
    (hive-text-line (or words value) width)))

;;;; Faces

;; Emacs' own `error', `warning', `success' and `shadow' have too little
;; contrast on a white background.  These have at least 4.5:1 on light and on
;; dark ones, and Hive's other faces inherit from them.

(defface hive-critical
  '((((class color) (min-colors 88) (background light)) :foreground "#b00020" :weight bold)
    (((class color) (min-colors 88) (background dark)) :foreground "#ff8a80" :weight bold)
    (t :inherit error))
  "What is urgent or has failed."
  :group 'hive)

(defface hive-warning
  '((((class color) (min-colors 88) (background light)) :foreground "#8a4600" :weight bold)
    (((class color) (min-colors 88) (background dark)) :foreground "#ffb454" :weight bold)
    (t :inherit warning))
  "What deserves attention."
  :group 'hive)

(defface hive-success
  '((((class color) (min-colors 88) (background light)) :foreground "#1b6e1b" :weight bold)
    (((class color) (min-colors 88) (background dark)) :foreground "#7fd98a" :weight bold)
    (t :inherit success))
  "What is chosen, active or good."
  :group 'hive)

(defface hive-shadow
  '((((class color) (min-colors 88) (background light)) :foreground "#5f5f5f")
    (((class color) (min-colors 88) (background dark)) :foreground "#a8a8a8")
    (t :inherit shadow))
  "What is less important."
  :group 'hive)

;;;; Sending text

(defun hive-text-sendable (text)
  "Return TEXT with only characters that JSON can carry.
NUL, raw bytes and lone surrogates become the replacement character."
  (replace-regexp-in-string "[\u0000\xD800-\xDFFF\x3FFF80-\x3FFFFF]" "\uFFFD"
                            (substring-no-properties text) t t))

;;;; Printing a buffer again

(defun hive-text--place (position)
  "Return the line and column of POSITION, for `hive-text--position'."
  (save-excursion
    (goto-char position)
    (cons (line-number-at-pos) (current-column))))

(defun hive-text--position (place)
  "Return the position at PLACE, or the nearest one that there is."
  (save-excursion
    (goto-char (point-min))
    (forward-line (1- (car place)))
    (move-to-column (cdr place))
    (point)))

(defun hive-text-reprint (print)
  "Erase this buffer and call PRINT, which prints it again.
Point and what each window shows stay at their lines."
  (let ((inhibit-read-only t)
        (place (hive-text--place (point)))
        ;; A window that is not selected has a point of its own.
        (windows (mapcar (lambda (window)
                           (list window (hive-text--place (window-point window))
                                 (hive-text--place (window-start window))))
                         (get-buffer-window-list nil nil t))))
    (erase-buffer)
    (funcall print)
    (goto-char (hive-text--position place))
    (pcase-dolist (`(,window ,point ,start) windows)
      (set-window-start window (hive-text--position start) t)
      (set-window-point window (hive-text--position point)))))

(defun hive-text-to-top ()
  "Go to the beginning of this buffer, in each of its windows."
  (goto-char (point-min))
  (dolist (window (get-buffer-window-list nil nil t)) (set-window-point window (point))))

;;;; Times

;; Every time that Hive reads and every timer that it starts comes from
;; these three, so that a test can put the clock forward.

(defun hive-now ()
  "Return the current time in seconds since the epoch."
  (float-time))

(defun hive-later (seconds function &rest args)
  "Call FUNCTION with ARGS in SECONDS; return the timer."
  (apply #'run-at-time seconds nil function args))

(defun hive-every (seconds function &rest args)
  "Call FUNCTION with ARGS every SECONDS; return the timer."
  (apply #'run-at-time seconds seconds function args))

(defun hive-text-seconds (time)
  "Return the ISO 8601 string TIME as seconds since the epoch, or nil."
  (when (stringp time)
    (ignore-errors
      (float-time
       (if (and (= (length time) 24) (= (aref time 23) ?Z))
           ;; The format that Hive writes.  Parsing all of ISO 8601 takes
           ;; ten times as long, and a list has many times.
           (cl-flet ((part (from to) (string-to-number (substring time from to))))
             (encode-time (list (part 17 19) (part 14 16) (part 11 13)
                                (part 8 10) (part 5 7) (part 0 4) nil nil 0)))
         (encode-time (iso8601-parse time)))))))

(defun hive-text-now ()
  "Return the current time in the format of the sidecar."
  (hive-text-before 0))

(defun hive-text-before (seconds)
  "Return the time SECONDS ago in the format of the sidecar.
If SECONDS is negative, the time is in the future."
  (format-time-string "%Y-%m-%dT%H:%M:%S.%3NZ" (- (hive-now) seconds) t))

(defun hive-text-duration (seconds)
  "Return SECONDS in short form: 12s, 5m, 3h, 2d."
  (let ((seconds (max 0 (round seconds))))
    (cond ((< seconds 60) (format "%ds" seconds))
          ((< seconds 3600) (format "%dm" (/ seconds 60)))
          ((< seconds 172800) (format "%dh" (/ seconds 3600)))
          (t (format "%dd" (/ seconds 86400))))))

(defun hive-text-age (time)
  "Return the age of the ISO 8601 string TIME, or the empty string."
  (let ((then (hive-text-seconds time)))
    (if then (hive-text-duration (- (hive-now) then)) "")))

(defun hive-text-long-age (time)
  "Return the age of the ISO 8601 string TIME with minutes: 1h 50m."
  (let* ((then (hive-text-seconds time))
         (seconds (and then (max 0 (round (- (hive-now) then))))))
    (cond ((null seconds) "")
          ((or (< seconds 3600) (>= seconds 86400)) (hive-text-duration seconds))
          (t (format "%dh %dm" (/ seconds 3600) (/ (% seconds 3600) 60))))))

(defun hive-text-until (time)
  "Return the time until the ISO 8601 string TIME, or the empty string."
  (let ((then (hive-text-seconds time)))
    (if then (hive-text-duration (- then (hive-now))) "")))

(provide 'hive-text)
;;; hive-text.el ends here
