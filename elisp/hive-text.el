;;; hive-text.el --- Text from agents, made harmless  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; What agents write is untrusted (design, invariant 12).  Everything that
;; is shown goes through `hive-text-inert' or `hive-text-line'; everything
;; that is sent goes through `hive-text-sendable'.  A third pair turns the
;; times of the wire into the short ages people read.

;;; Code:

(require 'cl-lib)
(require 'iso8601)
(require 'subr-x)

;;;; Long lines in narrow windows

;; Lines of agents have any length and windows any width: they are wrapped
;; between words, and what is continued is indented like its line.  The text
;; itself is left as it is.

(defconst hive-text--deepest 16 "Columns of indentation that are kept at most.")

(defconst hive-text--right-to-left "[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC]")

(defconst hive-text--longest 500
  "Characters of a line from right to left that is still wrapped between words.
Emacs looks for the place in a time that grows with their square: 0.1 s
for 1,000, 3 s for 8,000.")

(defun hive-wrap-words ()
  "Wrap the lines of this buffer between words, in windows of any width."
  (setq-local truncate-lines nil
              truncate-partial-width-windows nil
              word-wrap t))

(defun hive-wrap-heed (beg end)
  "Wrap anywhere from now on if a line between BEG and END would take Emacs long."
  (save-excursion
    (goto-char beg)
    (while (and word-wrap (< (point) end))
      (when (and (> (- (line-end-position) (point)) hive-text--longest)
                 (save-excursion
                   (re-search-forward hive-text--right-to-left (line-end-position) t)))
        (setq-local word-wrap nil))
      (forward-line 1))))

(defun hive-wrap-like-lines (beg end)
  "Let what is continued of a line between BEG and END be indented like it.
A number that stands first belongs to the indentation."
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
  "Return how many columns fit in the narrowest window of this buffer, or nil."
  (let ((windows (get-buffer-window-list nil nil t)))
    (when windows (apply #'min (mapcar #'window-max-chars-per-line windows)))))

;;;; Text from agents, made harmless

;;;; Showing

(defconst hive-text--hidden
  (concat "["
          "\u0000-\u0008\u000B-\u001F\u007F-\u009F\u00AD" ; controls, soft hyphen
          "\u061C\u115F\u1160\u180E"        ; Arabic letter mark, fillers
          "\u200B-\u200F\u2028-\u202E"      ; zero width, bidi marks
          "\u2060-\u206F\u3164\uFEFF\uFFA0\uFFF9-\uFFFB"
          "\U000E0000-\U000E007F"           ; tags: invisible text
          "\x3FFF80-\x3FFFFF"               ; raw bytes
          "]")
  "What a terminal would obey, reorder by or hide, and never print.")

(defun hive-text--reveal (match)
  "Return a visible stand-in for the one hidden character in MATCH."
  (let ((char (aref match 0)))
    (cond ((< char 32) (string ?^ (logxor char 64)))
          ((= char 127) "^?")
          (t (format "<U+%04X>" char)))))

(defun hive-text-inert (text)
  "Return TEXT without properties and with nothing hidden in it.
Control, bidi and zero-width characters become visible; newlines
and tabs stay.  A TEXT that is no string becomes the empty string."
  (cond ((not (stringp text)) "")
        ((string-match-p hive-text--hidden text)
         (hive-text--revealed (substring-no-properties text)))
        (t (substring-no-properties text))))

(defun hive-text--revealed (text)
  "Return TEXT with a stand-in for each hidden character in it."
  ;; Character by character: with 32,768 hidden ones, replacing matches of a
  ;; regular expression takes most of a second, and this 20 ms.
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
  "Return how the source of THING is labelled: bg, fork, or nil for main.
Whatever shows a source asks this function, as `sourceLabel' is the
only one of the sidecar."
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
The name that stood in its heading, if another, comes behind it."
  (let ((as (plist-get message :as_handle)))
    (concat (hive-text-line (plist-get message :from_handle) width)
            (if as (format " (as %s)" (hive-text-line as width)) ""))))

;;;; Sending

(defun hive-text-sendable (text)
  "Return TEXT as it can be written in JSON and read back.
NUL, raw bytes and lone surrogates become the replacement
character."
  (replace-regexp-in-string "[\u0000\xD800-\xDFFF\x3FFF80-\x3FFFFF]" "\uFFFD"
                            (substring-no-properties text) t t))

;;;; Times

(defun hive-text-seconds (time)
  "Return the ISO 8601 string TIME as seconds since the epoch, or nil."
  (when (stringp time)
    (ignore-errors
      (float-time
       (if (and (= (length time) 24) (= (aref time 23) ?Z))
           ;; As Hive writes it; parsing the whole of ISO 8601 takes ten
           ;; times as long, and a list has many times.
           (cl-flet ((part (from to) (string-to-number (substring time from to))))
             (encode-time (list (part 17 19) (part 14 16) (part 11 13)
                                (part 8 10) (part 5 7) (part 0 4) nil nil 0)))
         (encode-time (iso8601-parse time)))))))

(defun hive-text-now ()
  "Return the present moment as the wire writes it."
  (hive-text-before 0))

(defun hive-text-before (seconds)
  "Return the moment SECONDS ago as the wire writes it.
Where SECONDS is negative, it is yet to come."
  (format-time-string "%Y-%m-%dT%H:%M:%S.%3NZ" (time-subtract nil seconds) t))

(defun hive-text-duration (seconds)
  "Return SECONDS as people say it: 12s, 5m, 3h, 2d."
  (let ((seconds (max 0 (round seconds))))
    (cond ((< seconds 60) (format "%ds" seconds))
          ((< seconds 3600) (format "%dm" (/ seconds 60)))
          ((< seconds 172800) (format "%dh" (/ seconds 3600)))
          (t (format "%dd" (/ seconds 86400))))))

(defun hive-text-age (time)
  "Return how long ago the ISO 8601 string TIME was, or the empty string."
  (let ((then (hive-text-seconds time)))
    (if then (hive-text-duration (- (float-time) then)) "")))

(defun hive-text-until (time)
  "Return how far ahead the ISO 8601 string TIME is, or the empty string."
  (let ((then (hive-text-seconds time)))
    (if then (hive-text-duration (- then (float-time))) "")))

(provide 'hive-text)
;;; hive-text.el ends here
