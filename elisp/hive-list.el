;;; hive-list.el --- All questions that wait  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; A live table of what waits.  It follows the model; point stays on its
;; question, in every window that shows the list.

;;; Code:

(require 'cl-lib)
(require 'hive-model)
(require 'hive-respond)
(require 'hive-sidecar)
(require 'hive-text)
(require 'hive-work)
(require 'tabulated-list)

(defconst hive-list--rows 500
  "How many rows are shown at most; printing 10,000 takes over a second.")

(defconst hive-list--name "*hive*" "The name of the list's buffer.")

(defface hive-list-critical '((t :inherit error))
  "Questions that are critical."
  :group 'hive)

(defface hive-list-low '((t :inherit shadow))
  "Questions that are not urgent."
  :group 'hive)

(defvar hive-list-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "RET") #'hive-list-answer)
    (define-key map (kbd "c") #'hive-list-cancel)
    (define-key map (kbd "g") #'hive-list-refresh)
    map)
  "Keymap of `hive-list-mode'.")

(defvar-local hive-list--shown nil "The prompts that are shown, in order.")
(defvar-local hive-list--stale nil "Non-nil when the model has changed since.")
(defvar-local hive-list--timer nil "The timer that keeps the ages true.")

(define-derived-mode hive-list-mode tabulated-list-mode "Hive"
  "Major mode of the list of questions that wait.
\\<hive-list-mode-map>\\[hive-list-answer] answers the question at point, \\[hive-list-cancel] cancels it.
The list follows what happens by itself."
  (setq tabulated-list-format [("" 1 nil) ("Agent" 16 t) ("Source" 6 t)
                               ("Project" 16 t) ("Age" 5 nil :right-align t)
                               ("Expires" 7 nil :right-align t) ("Question" 0 t)]
        tabulated-list-padding 1
        tabulated-list-sort-key nil
        tabulated-list-entries (lambda () (mapcar #'hive-list--row (hive-list--wanted)))
        ;; Right-to-left text in one column must not move the others.
        bidi-paragraph-direction 'left-to-right)
  (setq truncate-lines t)
  (tabulated-list-init-header)
  (add-hook 'window-buffer-change-functions #'hive-list--appeared nil t)
  (add-hook 'kill-buffer-hook #'hive-list--end nil t)
  (setq hive-list--timer (run-at-time 30 30 #'hive-list--tick (current-buffer))))

;;;; Rows

(defun hive-list--row (prompt)
  "Return the row of PROMPT, as `tabulated-list-entries' wants it."
  (let ((face (pcase (hive-prompt-rank prompt)
                (0 'hive-list-critical) (2 'hive-list-low) (_ 'default))))
    (cl-flet ((cell (text) (propertize text 'face face)))
      (list (plist-get prompt :ask_id)
            (vector (cell (pcase (hive-prompt-rank prompt) (0 "!") (2 "·") (_ " ")))
                    (cell (hive-text-line (plist-get prompt :agent) 30))
                    (cell (hive-text-line (plist-get prompt :source) 6))
                    (cell (hive-text-line (plist-get prompt :project) 30))
                    (cell (hive-text-age (plist-get prompt :created_at)))
                    (cell (hive-text-until (plist-get prompt :expires_at)))
                    (cell (hive-text-line (plist-get prompt :question) 200)))))))

(defun hive-list--wanted ()
  "Return a new list of what should be shown, most urgent first."
  (let ((prompts (hive-prompts)))
    (if (nthcdr hive-list--rows prompts)
        (cl-subseq prompts 0 hive-list--rows)
      (copy-sequence prompts))))

;;;; Following the model

(defun hive-list--print ()
  "Print the list anew, and leave each window in its place."
  (let ((places (hive-list--places)))
    (setq hive-list--shown (hive-list--wanted)
          hive-list--stale nil)
    ;; Collecting garbage five times over costs more than the printing.
    (let ((gc-cons-threshold (max gc-cons-threshold (* 32 1024 1024))))
      (tabulated-list-print t))
    (hive-list--count)
    (hive-list--restore places)))

(defun hive-list--update ()
  "Change the lines that changed and no other.
Printing 500 rows takes as long as a dozen keys; one takes none."
  (if tabulated-list-sort-key           ; the human wants another order
      (hive-list--print)
    (let* ((inhibit-read-only t)
           (places (hive-list--places))
           (new (hive-prompts)) (room hive-list--rows)
           ;; The shown list is changed as its lines are: nothing is copied.
           (head (cons nil hive-list--shown)) (cell head))
      (save-excursion
        (goto-char (point-min))
        (while (or (cdr cell) (and new (> room 0)))
          (let ((old (cadr cell))
                (want (and (> room 0) (car new))))
            (if (and old (not (eq old want))
                     (or (null want) (eq (caddr cell) want) (not (memq old new))))
                (progn
                  (delete-region (point) (line-beginning-position 2))
                  (setcdr cell (cddr cell)))
              (if (eq old want)
                  (forward-line 1)
                (apply #'tabulated-list-print-entry (hive-list--row want))
                (setcdr cell (cons want (cdr cell))))
              (setq cell (cdr cell) new (cdr new) room (1- room))))))
      (setq hive-list--shown (cdr head)
            hive-list--stale nil)
      (hive-list--count)
      (hive-list--restore places))))

(defun hive-list--places ()
  "Return where each window stands: a list of window, id and column.
Point itself stands there with nil as its window."
  (let ((place (lambda (window position)
                 (save-excursion
                   (goto-char position)
                   (list window (tabulated-list-get-id) (current-column))))))
    (cons (funcall place nil (point))
          (mapcar (lambda (window) (funcall place window (window-point window)))
                  (remq (selected-window) (get-buffer-window-list nil nil t))))))

(defun hive-list--restore (places)
  "Let each of PLACES stand on its question again, if that is still shown."
  (pcase-dolist (`(,window ,id ,column) places)
    (let ((position (if window (window-point window) (point))))
      (when id
        (save-excursion
          (goto-char position)
          (unless (equal id (tabulated-list-get-id))
            (goto-char (or (hive-list--position id) position)))
          (when (equal id (tabulated-list-get-id))
            (move-to-column column)
            (setq position (point))))
        (if window (set-window-point window position) (goto-char position))))))

(defun hive-list--count ()
  "Show in the mode line how many wait."
  (let ((total (length (hive-prompts))))
    (setq mode-line-process
          (if (> total hive-list--rows)
              (format " %d of %d" hive-list--rows total)
            (format " %d" total)))))

(defun hive-list--position (id)
  "Return where the row of ID begins, or nil."
  (save-excursion
    (goto-char (point-min))
    (while (not (or (eobp) (equal id (tabulated-list-get-id))))
      (forward-line 1))
    (and (not (eobp)) (point))))

(defun hive-list--changed ()
  "Show what changed, or note that it did while out of sight."
  (let ((buffer (get-buffer hive-list--name)))
    (if (not buffer)
        (remove-hook 'hive-changed-hook #'hive-list--changed)
      (with-current-buffer buffer
        (if (get-buffer-window buffer t)
            (hive-list--update)
          (setq hive-list--stale t))))))

(defun hive-list--appeared (window)
  "Bring the list up to date when WINDOW comes to show it."
  (when (window-live-p window)
    (with-current-buffer (window-buffer window)
      (when (and (derived-mode-p 'hive-list-mode) hive-list--stale)
        (hive-list--print)))))

(defun hive-list--tick (buffer)
  "Keep the ages in BUFFER true while somebody sees them."
  (when (and (buffer-live-p buffer) (get-buffer-window buffer t))
    (hive-work-guarded (lambda () (with-current-buffer buffer (hive-list--print))))))

(defun hive-list--end ()
  "Stop what follows the model: the buffer is being killed."
  (when hive-list--timer (cancel-timer hive-list--timer)))

;;;; Commands

;;;###autoload
(defun hive-list ()
  "List the questions that wait for you.
\\<hive-list-mode-map>\\[hive-list-answer] answers one, \\[hive-list-cancel] cancels it, \\[hive-list-refresh] asks the sidecar anew."
  (interactive)
  (let ((buffer (get-buffer-create hive-list--name)))
    (with-current-buffer buffer
      (unless (derived-mode-p 'hive-list-mode) (hive-list-mode))
      (add-hook 'hive-changed-hook #'hive-list--changed)
      (hive-list--print))
    (pop-to-buffer buffer)))

(defun hive-list--prompt ()
  "Return the prompt at point."
  (or (hive-model-get 'prompt (tabulated-list-get-id))
      (user-error "There is no question on this line")))

(defun hive-list-answer ()
  "Answer the question at point."
  (interactive nil hive-list-mode)
  (hive-answer-prompt (hive-list--prompt) current-prefix-arg))

(defun hive-list-cancel ()
  "Cancel the question at point: its agent gets no answer."
  (interactive nil hive-list-mode)
  (let ((prompt (hive-list--prompt)))
    (when (y-or-n-p (format "Cancel the question of %s? "
                            (hive-text-line (plist-get prompt :agent) 40)))
      (hive-cancel-prompt prompt))))

(defun hive-list-refresh ()
  "Print the list anew and ask the sidecar for what waits."
  (interactive nil hive-list-mode)
  (hive-list--print)
  (when (hive-sidecar-connected-p) (hive-model-refresh)))

(provide 'hive-list)
;;; hive-list.el ends here
