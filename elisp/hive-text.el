;;; hive-text.el --- Text from agents, made harmless  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; Text from agents is untrusted (design, invariant 12).  Everything that is
;; shown goes through `hive-text-inert' or `hive-text-line', and everything
;; that is sent through `hive-text-sendable'.
;;
;; Also: names of agents, times and ages, and wrapping of long lines.

;;; Code:

(require 'cl-lib)
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
A number at the beginning is part of the indentation."
  (hive-wrap-heed beg end)
  (save-excursion
    (goto-char beg)
    (while (< (point) end)
      (when (looking-at " *\\(?:[0-9] +\\)?")
        (let ((columns (min hive-text--deepest (- (match-end 0) (match-beginning 0)))))
          (when (> columns 0)
            (put-text-property (point) (line-end-position) 'wrap-prefix
                               (make-string columns ?\s)))))
      (forward-line 1))))

(defun hive-wrap-room ()
  "Return the width of the narrowest window of this buffer, or nil."
  (let ((windows (get-buffer-window-list nil nil t)))
    (when windows (apply #'min (mapcar #'window-max-chars-per-line windows)))))

;;;; Showing text from agents

(defconst hive-text--hidden
  (concat "["
          "\u0000-\u0008\u000B-\u001F\u007F-\u009F\u00AD" ; controls, soft hyphen
          "\u034F\u061C\u115F\u1160"        ; joiner, Arabic letter mark, fillers
          "\u17B4\u17B5\u180B-\u180F"       ; invisible vowels, Mongolian selectors
          "\u200B-\u200F\u2028-\u202E"      ; zero width, bidi marks
          "\u2060-\u206F\u2800\u3164\uFE00-\uFE0F\uFEFF\uFFA0\uFFF0-\uFFFB"
          "\U0001BCA0-\U0001BCA3\U0001D173-\U0001D17A"
          "\U000E0000-\U000E0FFF"           ; tags and selectors: invisible text
          "\x3FFF80-\x3FFFFF"               ; raw bytes
          "]")
  "Characters that a terminal interprets, or hides, instead of printing them.")

(defun hive-text--reveal (match)
  "Return visible text for the hidden character in MATCH."
  (let ((char (aref match 0)))
    (cond ((< char 32) (string ?^ (logxor char 64)))
          ((= char 127) "^?")
          (t (format "<U+%04X>" char)))))

(defun hive-text-inert (text)
  "Return TEXT without properties and without hidden characters.
Control, bidi and zero-width characters become visible; newlines and
tabs stay.  If TEXT is not a string, return the empty string."
  (cond ((not (stringp text)) "")
        ((string-match-p hive-text--hidden text)
         (hive-text--revealed (substring-no-properties text)))
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

(defun hive-text-source (thing)
  "Return the label of the source of THING: bg, fork, or nil for main.
Everything that shows a source uses this function, the counterpart of
`sourceLabel' in the sidecar."
  (let ((source (plist-get thing :source)))
    (unless (member source '(nil "main")) (hive-text-line source 6))))

(defun hive-text-agent (thing &optional width)
  "Return the name of the agent of THING, at most WIDTH columns wide.
The label of `hive-text-source' comes before it."
  (let ((source (hive-text-source thing)))
    (concat (if source (format "[%s] " source) "")
            (hive-text-line (plist-get thing :agent) width))))

(defun hive-text-author (message width)
  "Return the name of the author of MESSAGE, at most WIDTH columns wide.
If its heading had another name, that comes behind it."
  (let ((as (plist-get message :as_handle)))
    (concat (hive-text-line (plist-get message :from_handle) width)
            (if as (format " (as %s)" (hive-text-line as width)) ""))))

(defun hive-text-by (answer width)
  "Return who gave ANSWER, a plist with :by, at most WIDTH columns wide.
An answer that Hive did not see a person give is marked."
  (concat (hive-text-line (or (plist-get answer :by) "") width)
          (if (eq (plist-get answer :attested) :json-false) ", unattested" "")))

;;;; Text in files

(defconst hive-text-file-end "\n\f\n"
  "The end of a file with text from agents.
Emacs reads local variables only behind the last page break, so after
this none of the text before it is taken for any.")

;;;; Sending text

(defun hive-text-sendable (text)
  "Return TEXT with only characters that JSON can carry.
NUL, raw bytes and lone surrogates become the replacement character."
  (replace-regexp-in-string "[\u0000\xD800-\xDFFF\x3FFF80-\x3FFFFF]" "\uFFFD"
                            (substring-no-properties text) t t))

;;;; Times

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
  (format-time-string "%Y-%m-%dT%H:%M:%S.%3NZ" (time-subtract nil seconds) t))

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
    (if then (hive-text-duration (- (float-time) then)) "")))

(defun hive-text-until (time)
  "Return the time until the ISO 8601 string TIME, or the empty string."
  (let ((then (hive-text-seconds time)))
    (if then (hive-text-duration (- then (float-time))) "")))

(provide 'hive-text)
;;; hive-text.el ends here
